import { useId } from 'react'
import { Switch } from '../../../../ui/switch.tsx'
import { FieldLabel, FieldNote } from './field-shell.tsx'
import type { FieldProps } from './panel-context.ts'

/** Shows a switch with its label beside it. */
export function SwitchField({ field, checked, onChange, problem }: FieldProps & { checked: boolean }) {
  const id = useId()
  const [labelledBy, noteId] = [`${id}-label`, `${id}-note`]
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-2">
        <FieldLabel id={labelledBy} field={field} />
        <Switch
          labelledBy={labelledBy}
          describedBy={noteId}
          field={field.name}
          checked={checked}
          onChange={onChange}
        />
      </div>
      <FieldNote id={noteId} field={field} problem={problem} />
    </div>
  )
}
