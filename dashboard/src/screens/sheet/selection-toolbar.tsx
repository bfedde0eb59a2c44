import { useStore } from 'zustand'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { Download, Play, Trash2, X } from '../../ui/icons.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { deleteRows, plural, selectedIds } from './row-edits.ts'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { useSheet, useTotal } from './sheet-view.ts'
import { countSelected } from './view-state.ts'

const MAX_IDS_IN_ADDRESS = 100

export function SelectionToolbar() {
  const view = useSheet()
  const go = useGo()
  const { open } = useSheetDialogs()
  const total = useTotal(view.rows) ?? 0
  const count = useStore(view.state, ({ selected }) => countSelected(selected, total))
  if (count === 0) return null
  const withIds = (then: (ids: string[]) => void | Promise<void>) => () =>
    void selectedIds(view).then(then).catch(notifyProblem)
  const exportIds = (ids: string[]) => {
    sessionStorage.setItem(`loam.export.${view.sheet.sheetId}`, JSON.stringify(ids))
    go(`${view.path}/export${ids.length <= MAX_IDS_IN_ADDRESS ? `?row_ids=${ids.join(',')}` : '?selected'}`)
  }
  return (
    <div
      role="toolbar"
      aria-label="Selected rows"
      className="flex flex-wrap items-center gap-2 border-b bg-selected px-3 py-1.5"
    >
      <span className="font-medium">{`${plural(count, 'row')} selected`}</span>
      {view.can.run && (
        <Button
          size="small"
          icon={Play}
          onClick={withIds((ids) => open({ kind: 'run', choice: { kind: 'rows', ids } }))}
        >
          Run selected
        </Button>
      )}
      <Button size="small" icon={Download} onClick={withIds(exportIds)}>
        Export selected
      </Button>
      {view.can.edit && (
        <Button
          size="small"
          icon={Trash2}
          onClick={withIds(async (ids) => {
            view.state.getState().clearSelection()
            await deleteRows(view, ids)
          })}
        >
          Delete rows
        </Button>
      )}
      <Button size="small" kind="ghost" icon={X} onClick={() => view.state.getState().clearSelection()}>
        Clear selection
      </Button>
    </div>
  )
}
