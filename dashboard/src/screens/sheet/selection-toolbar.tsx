import { useState } from 'react'
import { useStore } from 'zustand'
import { sheetCall, sheetPath } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { selectionQuery } from '../../api/selection-address.ts'
import { isFiltered } from '../../api/sheet.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { Download, Play, Trash2, X } from '../../ui/icons.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { deleteRows, MAX_EDITED_ROWS, selectedIds } from './row-edits.ts'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { type SheetView, useSheet, useTotal } from './sheet-view.ts'
import { countSelected } from './view-state.ts'

const MAX_IDS_IN_ADDRESS = 100
/** The maximum number of row ids that a run or an export accepts. */
const MAX_IDS = 25_000

export function SelectionToolbar() {
  const view = useSheet()
  const go = useGo()
  const { open } = useSheetDialogs()
  const [isAsking, setAsking] = useState(false)
  const total = useTotal(view.rows) ?? 0
  const selected = useStore(view.state, (state) => state.selected)
  const count = countSelected(selected, total)
  if (count === 0) return null
  const { selection } = view.address
  // If all shown rows are selected, the filters identify them, however many there are.
  const isWhole = selected.all && selected.ids.size === 0
  const { withIds, exportIds, deleteIds, deleteAll } = buildActions(view, go, count)
  const isEverything = isWhole && !isFiltered(selection) && count > MAX_EDITED_ROWS
  return (
    <div
      role="toolbar"
      aria-label="Selected rows"
      // It floats over the end of the grid, so that no row moves when it comes and goes.
      className="absolute inset-x-0 bottom-4 z-10 mx-auto flex w-max max-w-[calc(100%-16px)] animate-pop flex-wrap items-center gap-2 rounded-lg border bg-raised px-3 py-2 shadow-raised"
    >
      <span className="font-medium">{`${plural(count, 'row')} selected`}</span>
      {view.can.run && (
        <Button
          size="small"
          icon={Play}
          onClick={
            isWhole
              ? () => open({ kind: 'run', choice: { kind: 'filtered' } })
              : withIds((ids) => open({ kind: 'run', choice: { kind: 'rows', ids } }))
          }
        >
          Run selected
        </Button>
      )}
      <Button
        size="small"
        icon={Download}
        onClick={
          isWhole
            ? () => go(`${sheetPath(view.sheet)}/export${selectionQuery(selection, view.address.sort)}`)
            : withIds(exportIds)
        }
      >
        Export selected
      </Button>
      {view.can.edit && (
        <Button
          size="small"
          icon={Trash2}
          onClick={isEverything ? () => setAsking(true) : withIds(deleteIds)}
        >
          Delete rows
        </Button>
      )}
      <Button size="small" kind="ghost" icon={X} onClick={() => view.state.getState().clearSelection()}>
        Clear selection
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${plural(count, 'row')}`}
          description="A deletion of this size is permanent and cannot be undone."
          verb="Delete"
          run={deleteAll}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** Returns what can be done with the selected rows. */
function buildActions(view: SheetView, go: (address: string) => void, count: number) {
  /** Returns a handler that reads the ids of the selected rows first. */
  const withIds = (then: (ids: string[]) => void | Promise<void>) => () => {
    if (count > MAX_IDS) {
      notifyProblem(
        `At most ${plural(MAX_IDS, 'row')} can be selected one by one. Use a filter to select more`,
      )
      return
    }
    void selectedIds(view).then(then).catch(notifyProblem)
  }
  const exportIds = (ids: string[]) => {
    sessionStorage.setItem(`loam.export.${view.sheet.sheetId}`, JSON.stringify(ids))
    go(
      `${sheetPath(view.sheet)}/export${ids.length <= MAX_IDS_IN_ADDRESS ? `?row_ids=${ids.join(',')}` : '?selected'}`,
    )
  }
  const deleteIds = async (ids: string[]) => {
    view.state.getState().clearSelection()
    await deleteRows(view, ids)
  }
  const deleteAll = async () => {
    await send(sheetCall(view.sheet, 'POST /rows/delete-all'))
    view.state.getState().clearSelection()
    view.refresh()
    notify(`${plural(count, 'row')} deleted`)
  }
  return { withIds, exportIds, deleteIds, deleteAll }
}
