import { type ConditionGroup, printGroups } from '../../conditions.ts'
import { ConditionsEditor } from '../conditions-editor.tsx'
import { FieldNote } from './field-shell.tsx'
import { type FieldProps, usePanel } from './panel-context.ts'

/** Conditions over the row, or over the rows of the sheet that another field names. */
export function ConditionsField({
  field,
  groups,
  onChange,
  problem,
}: FieldProps & { groups: readonly ConditionGroup[] }) {
  const { template } = usePanel()
  const isOverTarget = template.inputs.some(({ kind }) => kind === 'sheet')
  return (
    <div className="flex flex-col gap-1">
      <ConditionsEditor
        name={field.label}
        field={field.name}
        isOverTarget={isOverTarget}
        groups={groups}
        onChange={(groups) => onChange(groups.length === 0 ? null : printGroups(groups))}
      />
      <FieldNote id={`${field.name}-note`} field={field} problem={problem} />
    </div>
  )
}
