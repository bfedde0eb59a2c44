import type { Call } from '../../../api/calls.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { LabelledSwitch } from '../../../ui/switch.tsx'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet } from '../sheet-view.ts'
import { type RowsToRun, SaveAndRun } from './save-and-run.tsx'

/** The buttons below an action: what saving does, and the call that it sends. */
export function PanelFooter({
  action,
  highest,
  call,
  canSave,
  busy,
  showsApiNames,
  onApiNames,
  onSave,
  onCancel,
}: {
  /** The id of the action, or null before it is added. */
  action: string | null
  /** The highest price of one row. */
  highest: number
  call: Call<unknown>
  canSave: boolean
  busy: boolean
  showsApiNames: boolean
  onApiNames: (shows: boolean) => void
  /** Saves, and runs rows after it unless they are null. */
  onSave: (rows: RowsToRun | null) => void
  onCancel: () => void
}) {
  const { can } = useSheet()
  return (
    <div className="flex w-full flex-col gap-2">
      {can.editActions && (
        <div className="flex flex-wrap items-center gap-2">
          <Button kind="primary" busy={busy} disabled={!canSave} onClick={() => onSave(null)}>
            Save
          </Button>
          {can.run && (
            <SaveAndRun action={action} highest={highest} disabled={!canSave} busy={busy} onRun={onSave} />
          )}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <CopyAsCurl call={call} size="small" kind="ghost" className="-ml-2" />
        <LabelledSwitch label="API names" checked={showsApiNames} onChange={onApiNames} />
        {action === null ? (
          <Button kind="ghost" size="small" className="ml-auto" onClick={onCancel}>
            Cancel
          </Button>
        ) : (
          can.editActions && <DeleteButton action={action} />
        )}
      </div>
    </div>
  )
}

/** The button that asks before it deletes the action. */
function DeleteButton({ action }: { action: string }) {
  const { columns } = useSheet()
  const { open } = useSheetDialogs()
  return (
    <Button
      kind="ghost"
      size="small"
      className="ml-auto text-danger-text!"
      onClick={() => {
        const column = columns.find(({ key }) => key === action)
        if (column !== undefined) open({ kind: 'delete column', column })
      }}
    >
      Delete action
    </Button>
  )
}
