import { useMutation } from '@tanstack/react-query'
import { request } from '../../../api/client.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

type Deleted = { dependent_actions?: { action_instance_id: string }[] }

/** The dialog that deletes an input with its values, or an action with its results. `Undo` restores them until other changes are made. */
export function DeleteColumn({ column, onClose }: { column: Column; onClose: () => void }) {
  const view = useSheet()
  const { path, refreshDefinition, refresh, address, history } = view
  const remove = useMutation({
    mutationFn: () =>
      changeDefinition(view, 'delete column', () =>
        request<Deleted>(
          'DELETE',
          column.kind === 'input'
            ? `${path}/inputs/${encodeURIComponent(column.name)}`
            : `${path}/actions/${encodeURIComponent(column.key)}`,
        ),
      ),
    onSuccess: async ({ data }) => {
      onClose()
      if (address.opened.action === column.key || address.opened.cell === column.key) address.closePanel()
      await refreshDefinition()
      refresh()
      const broken = data.dependent_actions ?? []
      notify(
        broken.length === 0
          ? `Deleted ${column.name}`
          : `Deleted ${column.name}. These actions referred to it: ${broken.map((one) => one.action_instance_id).join(', ')}`,
        { label: 'Undo', run: () => void history.getState().undo().catch(notifyProblem) },
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
