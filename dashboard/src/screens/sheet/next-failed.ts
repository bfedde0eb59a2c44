import { sheetCall } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { isFiltered, selectionBody } from '../../api/sheet.ts'
import { notify } from '../../ui/toasts.tsx'
import type { SheetView } from './sheet-view.ts'

/** Opens the next failed cell in the order of rows and actions. After the last one it starts again at the first. */
export async function openNextFailed(view: SheetView): Promise<void> {
  const { address, rows, state, placed, sheet } = view
  const next = await fetchData(
    sheetCall(sheet, 'POST /internal/rows/next-failed', {
      body: { ...currentCell(view), ...selectionBody(address.selection) },
    }),
  )
  if (next === null) {
    notify(isFiltered(address.selection) ? 'No failed cells in the filtered rows' : 'No failed cells')
    return
  }
  address.openCell(next.row_id, next.action)
  const row = await rows.locate(next.row_id)
  const column = placed.findIndex(({ key }) => key === next.action) + 1
  if (row !== null && column > 0) state.getState().goTo({ row, column })
}

/** Returns the cell to start from: the cell of the open panel, or else the focused cell. */
function currentCell({ address: { opened }, rows, state, placed }: SheetView) {
  if (opened.row !== null) {
    return { after: { row_id: opened.row, ...(opened.cell === null ? {} : { action: opened.cell }) } }
  }
  const { active } = state.getState()
  const row = rows.row(active.row)
  const column = placed[active.column - 1]
  if (row === undefined) return {}
  return { after: { row_id: row.row_id, ...(column?.kind === 'action' ? { action: column.key } : {}) } }
}
