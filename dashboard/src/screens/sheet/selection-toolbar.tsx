import { useState } from 'react'
import { useStore } from 'zustand'
import { sheetPath } from '../../api/calls.ts'
import { selectionQuery } from '../../api/selection-address.ts'
import { ALL_ROWS } from '../../api/selection.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { plural } from '../../ui/figure.ts'
import { Download, Play, Trash2, X } from '../../ui/icons.tsx'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { deleteRows, MAX_EDITED_ROWS, selectedIds } from './row-edits.ts'
import { chooseSelected, deleteMatching, useSelectedCost } from './selected-rows.ts'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { type SheetView, useSheet, useTotal } from './sheet-view.ts'
import { countSelected } from './view-state.ts'

const MAX_IDS_IN_ADDRESS = 100

export function SelectionToolbar() {
  const view = useSheet()
  const go = useGo()
  const { open } = useSheetDialogs()
  const [isAsking, setAsking] = useState(false)
  const total = useTotal(view.rows) ?? 0
  const selected = useStore(view.state, (state) => state.selected)
  const count = countSelected(selected, total)
  const hasActions = view.columns.some(({ kind }) => kind === 'action')
  const cost = useSelectedCost(view.can.run && hasActions && count > 0)
  if (count === 0) return null
  const deleteSelected = async () => {
    const ids = await selectedIds(view)
    view.state.getState().clearSelection()
    await deleteRows(view, ids)
  }
  // Above this number rows are deleted by their filters, and cannot be restored.
  const isPermanent = selected.all && count > MAX_EDITED_ROWS
  return (
    <div
      role="toolbar"
      aria-label="Selected rows"
      // It floats over the end of the grid, so that no row moves when it comes and goes.
      className="absolute inset-x-0 bottom-4 z-10 mx-auto flex w-max max-w-[calc(100%-16px)] animate-pop flex-wrap items-center gap-2 rounded-lg border bg-raised px-3 py-2 shadow-raised"
    >
      <span className="font-medium">{`${plural(count, 'row')} selected`}</span>
      {cost !== undefined && (
        <span role="status" aria-label="Cost of a run" className="text-muted">
          {cost === null ? 'Run: no upper limit known' : `Run: at most ${plural(cost, 'credit')}`}
        </span>
      )}
      {count < total && (
        <Button size="small" onClick={() => view.state.getState().selectAll(true)}>
          {`Select all ${plural(total, 'row')} that match`}
        </Button>
      )}
      {view.can.run && (
        <Button
          size="small"
          icon={Play}
          onClick={() => open({ kind: 'run', choice: chooseSelected(selected) })}
        >
          Run selected
        </Button>
      )}
      <Button size="small" icon={Download} onClick={() => go(exportAddress(view, selected))}>
        Export selected
      </Button>
      {view.can.edit && (
        <Button
          size="small"
          icon={Trash2}
          onClick={isPermanent ? () => setAsking(true) : () => void deleteSelected().catch(notifyProblem)}
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
          run={async () => notify(`${plural(await deleteMatching(view, [...selected.ids]), 'row')} deleted`)}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** Returns the address of the export of the selected rows. Many ids are left in the storage of this tab. */
function exportAddress(
  { sheet, address }: SheetView,
  { all, ids }: { all: boolean; ids: ReadonlySet<string> },
): string {
  const path = `${sheetPath(sheet)}/export`
  const query = new URLSearchParams(selectionQuery(all ? address.selection : ALL_ROWS, address.sort))
  if (ids.size > 0 && !all && ids.size <= MAX_IDS_IN_ADDRESS) query.set('row_ids', [...ids].join(','))
  else if (ids.size > 0) {
    sessionStorage.setItem(`loam.export.${sheet.sheetId}`, JSON.stringify([...ids]))
    query.set(all ? 'excluded' : 'selected', '')
  }
  return `${path}?${query}`
}
