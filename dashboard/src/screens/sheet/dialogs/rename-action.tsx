import { sheetCall } from '../../../api/calls.ts'
import { send } from '../../../api/client.ts'
import { NameDialog } from '../../../ui/name-dialog.tsx'
import type { ActionColumn } from '../columns.ts'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'

export function RenameAction({ column, onClose }: { column: ActionColumn; onClose: () => void }) {
  const view = useSheet()
  const { sheet, refreshDefinition } = view
  return (
    <NameDialog
      title="Rename action"
      start={column.name}
      save={(name) =>
        changeDefinition(view, `rename ${column.name} to ${name.trim()}`, () =>
          send(
            sheetCall(sheet, 'PATCH /actions/:action_instance_id/name', {
              params: { action_instance_id: column.key },
              body: { name },
            }),
          ),
        )
      }
      onSaved={() => refreshDefinition()}
      onClose={onClose}
    />
  )
}
