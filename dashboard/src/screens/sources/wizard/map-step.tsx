import { useQuery } from '@tanstack/react-query'
import { type Input, inputsQuery } from '../../../api/sheet.ts'
import { workflowsQuery } from '../../../api/workflows.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { nameWords } from '../../../ui/name-words.ts'
import { Problem } from '../../../ui/problem.tsx'
import { SpendAtMost } from '../../../ui/spend-at-most.tsx'
import { Table } from '../../../ui/table.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { valueText } from '../../../ui/value-text.ts'
import { NEW_INPUT, NOT_IMPORTED } from '../../import/mapping.ts'
import type { SourceRow } from '../record-table.tsx'
import { ON_CHANGE } from '../sync-source.tsx'
import { findTarget, listTwice, type Mapping, NEW_WORKFLOW, NO_WORKFLOW } from './mapping.ts'

type Props = {
  fields: readonly string[]
  rows: readonly SourceRow[]
  mapping: Mapping
  onChange: (change: Partial<Mapping>) => void
}

/** The step that says which workflow gets the records, and which column each field fills. */
export function MapStep({ fields, rows, mapping, onChange }: Props) {
  const workflows = useQuery(workflowsQuery)
  const { workflow } = mapping
  const isOld = workflow !== NEW_WORKFLOW && workflow !== NO_WORKFLOW
  const inputs = useQuery({
    ...inputsQuery({ workflowId: workflow, sheetId: workflow }),
    enabled: isOld,
  })
  const error = workflows.error ?? (isOld ? inputs.error : null)
  const known = isOld ? (inputs.data ?? []) : []
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <Problem error={error} />}
      <div className="grid max-w-[720px] gap-4 md:grid-cols-2">
        <Combobox
          label="Add rows to"
          value={workflow}
          choices={[
            ...(fields.length === 0 ? [] : [{ value: NEW_WORKFLOW, label: 'A new workflow' }]),
            { value: NO_WORKFLOW, label: 'No workflow yet' },
            ...(fields.length === 0
              ? []
              : (workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name }))),
          ]}
          onChange={(next) => onChange({ workflow: next, targets: {} })}
        />
        {workflow === NEW_WORKFLOW && (
          <TextField
            label="Workflow name"
            value={mapping.workflowName}
            onChange={(workflowName) => onChange({ workflowName })}
          />
        )}
      </div>
      {fields.length === 0 && (
        <p role="status">
          The fields are known once the first records have arrived. You can then add them to a workflow on the
          page of the source.
        </p>
      )}
      {workflow !== NO_WORKFLOW && (!isOld || inputs.data !== undefined) && (
        <ColumnTable fields={fields} rows={rows} mapping={mapping} known={known} onChange={onChange} />
      )}
      {workflow !== NO_WORKFLOW && (
        <div className="grid max-w-[720px] gap-4 md:grid-cols-2">
          <Combobox
            label="When a record changes"
            value={mapping.onChange}
            choices={ON_CHANGE}
            onChange={(next) => onChange({ onChange: next })}
          />
          {isOld && (
            <SpendAtMost
              value={mapping.cap}
              onChange={(cap) => onChange({ cap })}
              hint="Daily credit limit for the rows that this source starts (optional)."
            />
          )}
        </div>
      )}
    </div>
  )
}

/** The table of the fields, each with a sample and the column that it fills. */
function ColumnTable({ fields, rows, mapping, known, onChange }: Props & { known: readonly Input[] }) {
  const twice = listTwice(fields, mapping, known)
  return (
    <Table
      label="Fields"
      items={fields}
      getKey={(field) => field}
      columns={[
        { name: 'Field', cell: (field) => <span className="font-medium">{nameWords(field)}</span> },
        {
          name: 'Sample',
          cell: (field) => (
            <span className="line-clamp-1 max-w-[280px] break-all text-muted">{findSample(rows, field)}</span>
          ),
        },
        {
          name: 'Column',
          cell: (field) => (
            <Combobox
              label={`Column for ${nameWords(field)}`}
              hideLabel
              value={findTarget(field, fields, mapping, known)}
              choices={[
                { value: NEW_INPUT, label: `New column “${nameWords(field)}”` },
                { value: NOT_IMPORTED, label: 'Do not import' },
                ...known.map(({ name }) => ({ value: name, label: name })),
              ]}
              onChange={(target) => onChange({ targets: { ...mapping.targets, [field]: target } })}
              problem={twice.has(field) ? 'This column is filled twice. Choose another one.' : undefined}
            />
          ),
        },
      ]}
    />
  )
}

function findSample(rows: readonly SourceRow[], field: string): string {
  const row = rows.find((one) => valueText(one[field]) !== '')
  return row === undefined ? '' : valueText(row[field])
}
