import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type SheetBody, sheetCall } from '../../../api/calls.ts'
import { fieldProblem, send } from '../../../api/client.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { plural } from '../../../ui/figure.ts'
import { NameDialog } from '../../../ui/name-dialog.tsx'
import { notify } from '../../../ui/toasts.tsx'
import type { InputColumn } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { INPUT_TYPE_CHOICES, readChoices } from '../input-types.ts'
import { type SheetView, useSheet } from '../sheet-view.ts'
import { ChoicesField } from './choices-field.tsx'

type Change = SheetBody<'PATCH /inputs/:field_name'>
type Props = { column: InputColumn; onClose: () => void }

function changeInput(view: SheetView, column: InputColumn, name: string, body: Change) {
  const params = { field_name: column.name }
  return changeDefinition(view, name, () =>
    send(sheetCall(view.sheet, 'PATCH /inputs/:field_name', { params, body })),
  )
}

/** The dialog that renames an input. Every reference to it follows. */
export function RenameInput({ column, onClose }: Props) {
  const view = useSheet()
  const { refreshDefinition, refresh } = view
  return (
    <NameDialog
      title="Rename input"
      start={column.name}
      save={(name) => changeInput(view, column, `rename ${column.name} to ${name.trim()}`, { name })}
      onSaved={async ({ data }) => {
        renameInSelection(view, column.name, data.name)
        await refreshDefinition()
        refresh()
        const count = data.references_changed.length
        if (count > 0) notify(`Renamed to ${data.name}. ${plural(count, 'action')} updated`)
      }}
      onClose={onClose}
    />
  )
}

/** Renames an input in the filters that are active. */
function renameInSelection({ address }: SheetView, former: string, name: string): void {
  const { selection } = address
  const [was, next] = [`{{input.${former}}}`, `{{input.${name}}}`]
  if (!selection.filters.some(({ variable }) => variable === was)) return
  const filters = selection.filters.map((one) => (one.variable === was ? { ...one, variable: next } : one))
  address.select({ ...selection, filters })
}

/** The dialog that changes the type of an input, and its choices. Values stay as they are. */
export function ChangeInputType({ column, onClose }: Props) {
  const view = useSheet()
  const { refreshDefinition } = view
  const [type, setType] = useState(column.type)
  const [choices, setChoices] = useState((column.choices ?? []).join('\n'))
  const save = useMutation({
    mutationFn: () =>
      changeInput(view, column, `change the type of ${column.name}`, {
        type,
        ...(type === 'select' ? { choices: readChoices(choices) } : {}),
      }),
    onSuccess: async ({ warnings }) => {
      await refreshDefinition()
      const [warning] = warnings
      if (warning !== undefined) notify(warning.text ?? warning.message)
      onClose()
    },
  })
  const problem = fieldProblem(save.error, 'choices')
  return (
    <Dialog
      open
      onClose={onClose}
      title="Change type"
      description={`Values of ${column.name} stay as they are. Those that do not fit are marked.`}
      submit={{ label: 'Save', onSubmit: () => save.mutate(), busy: save.isPending }}
      error={problem === undefined ? save.error : null}
    >
      <Combobox label="Type" value={type} choices={INPUT_TYPE_CHOICES} onChange={setType} />
      {type === 'select' && <ChoicesField value={choices} onChange={setChoices} problem={problem} />}
    </Dialog>
  )
}
