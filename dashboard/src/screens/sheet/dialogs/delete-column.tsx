import { useMutation } from '@tanstack/react-query'
import { request } from '../../../api/client.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { notify } from '../../../ui/toasts.tsx'
import type { Column } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'

type Deleted = { dependent_actions?: { action_instance_id: string }[] }

/** Of an input its values go too, of an action its results. */
export function DeleteColumn({ column, onClose }: { column: Column; onClose: () => void }) {
  const { path, refreshDefinition, refresh, address } = useSheet()
  const remove = useMutation({
    mutationFn: () =>
      request<Deleted>(
        'DELETE',
        column.kind === 'input'
          ? `${path}/inputs/${encodeURIComponent(column.name)}`
          : `${path}/actions/${encodeURIComponent(column.key)}`,
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
          ? 'Its values are gone for good, and actions that refer to it warn until they are changed.'
          : 'Its results are gone for good. Actions after it run, and bill, again the next time.'
      }
      submit={{ label: 'Delete', kind: 'danger', onSubmit: () => remove.mutate(), busy: remove.isPending }}
      error={remove.error}
    />
  )
}
