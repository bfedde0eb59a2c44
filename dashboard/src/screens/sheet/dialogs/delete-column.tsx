import { useMutation } from '@tanstack/react-query'
import { request } from '../../../api/client.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

type Deleted = { dependent_actions?: { action_instance_id: string }[] }

/** Of an input its values go too, of an action its results; until other changes are made they come back by `Undo`. */
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
          ? `${column.name} is deleted`
          : `${column.name} is deleted; these referred to it: ${broken.map((one) => one.action_instance_id).join(', ')}`,
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
          ? 'Its values go with it, and actions that refer to it warn until they are changed. Undo brings it back.'
          : 'Its results go with it. Actions after it run, and bill, again the next time. Undo brings it back.'
      }
      submit={{ label: 'Delete', kind: 'danger', onSubmit: () => remove.mutate(), busy: remove.isPending }}
      error={remove.error}
    />
  )
}
