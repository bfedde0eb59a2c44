import { useMutation } from '@tanstack/react-query'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData, send } from '../../../api/client.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { notify } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'
import { undoLast } from '../undo.ts'

/** The dialog that deletes an input with its values, or an action with its results. `Undo` restores them until other changes are made. */
export function DeleteColumn({ column, onClose }: { column: Column; onClose: () => void }) {
  const view = useSheet()
  const { refreshDefinition, refresh, address } = view
  const remove = useMutation({
    mutationFn: () => changeDefinition(view, `delete ${column.name}`, () => removeColumn(view.sheet, column)),
    onSuccess: async (broken) => {
      onClose()
      if (address.opened.action === column.key || address.opened.cell === column.key) address.closePanel()
      await refreshDefinition()
      refresh()
      notify(
        broken.length === 0
          ? `Deleted ${column.name}`
          : `Deleted ${column.name}. These actions referred to it: ${broken.join(', ')}`,
        { label: 'Undo', run: () => undoLast(view) },
      )
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete ${column.name}`}
      description={
        column.kind === 'input'
          ? 'This also deletes its values. Actions that refer to it show a warning until they are changed. You can undo this.'
          : 'This also deletes its results. The actions after it run and bill again the next time. You can undo this.'
      }
      submit={{ label: 'Delete', kind: 'danger', onSubmit: () => remove.mutate(), busy: remove.isPending }}
      error={remove.error}
    />
  )
}

/** Deletes an input or an action. Returns the ids of the actions that referred to the outputs of a deleted action. */
async function removeColumn(sheet: SheetId, column: Column): Promise<string[]> {
  if (column.kind === 'input') {
    await send(sheetCall(sheet, 'DELETE /inputs/:field_name', { params: { field_name: column.name } }))
    return []
  }
  const params = { action_instance_id: column.key }
  const deleted = await fetchData(sheetCall(sheet, 'DELETE /actions/:action_instance_id', { params }))
  return deleted.dependent_actions.map((one) => one.action_instance_id)
}
