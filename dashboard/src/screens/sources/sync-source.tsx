import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SourceState } from '#contract/sources.ts'
import { request } from '../../api/client.ts'
import { inputsQuery } from '../../api/sheet.ts'
import { workflowsQuery } from '../../api/workflows.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { Checkbox } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { fieldsOf } from './record-table.tsx'
import { recordsQuery } from './source-records.tsx'
import { sourceTypesQuery } from './source-types.ts'

export const ON_CHANGE = [
  { value: 'ignore', label: 'Leave the row' },
  { value: 'update', label: 'Update the row' },
  { value: 'update_and_run', label: 'Update the row and run it' },
]

/** The records of a source as rows of a workflow's main sheet, from now on. */
export function SyncSource({ source, onClose }: { source: SourceState; onClose: () => void }) {
  const id = source.source_instance_id
  const [workflow, setWorkflow] = useState('')
  const [chosen, setChosen] = useState<Record<string, string>>({})
  const [pushExisting, setPushExisting] = useState(true)
  const [onChange, setOnChange] = useState('ignore')
  const [cap, setCap] = useState('')
  const queries = useQueryClient()
  const workflows = useQuery(workflowsQuery)
  // The main sheet has the id of its workflow.
  const inputs = useQuery({
    ...inputsQuery({ workflowId: workflow, sheetId: workflow }),
    enabled: workflow !== '',
  })
  const fields = useRecordFields(source)
  const names = (inputs.data ?? []).map(({ name }) => name)
  const fieldFor = (input: string) =>
    chosen[input] ?? fields.find((field) => field.toLowerCase() === input.toLowerCase()) ?? ''
  const body = {
    workflow_id: workflow,
    field_mapping: Object.fromEntries(
      names.flatMap((name) => (fieldFor(name) === '' ? [] : [[`input.${name}`, fieldFor(name)]])),
    ),
    push_existing: pushExisting,
    on_change: onChange,
    ...spending(cap),
  }
  const path = `/sources/${id}/sync`
  const sync = useMutation({
    mutationFn: () => request('POST', path, body),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: ['sources', id] })
      notify(
        warnings[0] === undefined ? 'The source is synced' : `${warnings[0].field}: ${warnings[0].message}`,
      )
      onClose()
    },
  })
  const problemOf = (name: string) => problemWithin(sync.error, `field_mapping.input.${name}`)
  const capProblem = problemWithin(sync.error, 'max_credits')
  const failed = workflows.error ?? inputs.error
  const isShown = capProblem !== undefined || names.some((name) => problemOf(name) !== undefined)
  return (
    <Dialog
      open
      onClose={onClose}
      title="Sync to a workflow"
      description="Each record becomes a row of the main sheet. A second sync with the same workflow replaces the first."
      submit={{
        label: 'Sync',
        onSubmit: () => sync.mutate(),
        busy: sync.isPending,
        disabled: Object.keys(body.field_mapping).length === 0,
      }}
      footer={<CopyAsCurl method="POST" path={path} body={body} />}
      error={isShown ? null : sync.error}
    >
      {failed !== null && <Problem error={failed} />}
      <Combobox
        label="Workflow"
        value={workflow}
        choices={(workflows.data ?? []).map(({ workflow_id, name }) => ({ value: workflow_id, label: name }))}
        onChange={(next) => {
          setWorkflow(next)
          setChosen({})
        }}
      />
      {inputs.data?.length === 0 && (
        <p role="status">This workflow has no inputs. Add one to its main sheet first.</p>
      )}
      {names.map((name) => (
        <Combobox
          key={`${workflow} ${name}`}
          label={`Field for ${name}`}
          value={fieldFor(name)}
          // What the account decides may have fields that no record shown here has.
          free
          choices={[{ value: '', label: 'Left empty' }, ...fields.map((field) => ({ value: field }))]}
          onChange={(field) => setChosen({ ...chosen, [name]: field })}
          problem={problemOf(name)}
        />
      ))}
      <Combobox label="When a record changes" value={onChange} choices={ON_CHANGE} onChange={setOnChange} />
      <SpendAtMost
        value={cap}
        onChange={setCap}
        problem={capProblem}
        hint="Credits a day that rows may cost which this starts; empty: no cap"
      />
      <Checkbox label="Push existing records" checked={pushExisting} onChange={setPushExisting} />
    </Dialog>
  )
}

function useRecordFields({ source_instance_id: id, source_id, lead_count }: SourceState): string[] {
  const types = useQuery(sourceTypesQuery)
  const records = useQuery(recordsQuery(id, 1, lead_count))
  const known = types.data?.find((type) => type.source_id === source_id)?.record_fields
  return known ?? fieldsOf(records.data?.rows ?? [])
}
