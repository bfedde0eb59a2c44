import { request } from '../../../api/client.ts'
import { NameDialog } from '../../../ui/name-dialog.tsx'
import type { ActionColumn } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

export function RenameAction({ column, onClose }: { column: ActionColumn; onClose: () => void }) {
  const view = useSheet()
  const { path, refreshDefinition } = view
  return (
    <NameDialog
      title="Rename action"
      start={column.name}
      save={(name) =>
        changeDefinition(view, 'rename', () =>
          request('PATCH', `${path}/actions/${encodeURIComponent(column.key)}/name`, { name }),
        )
      }
      onSaved={() => refreshDefinition()}
      onClose={onClose}
    />
  )
}
