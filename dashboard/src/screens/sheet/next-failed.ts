import { request } from '../../api/client.ts'
import type { RowPage } from '../../api/sheet.ts'
import { notify } from '../../ui/toasts.tsx'
import type { SheetView } from './sheet-view.ts'

const FAILED = ['failed', 'error', 'out_of_credits'] as const
const isFailed = (status: string | undefined) => FAILED.some((one) => one === status)

/** Opens the next failed cell behind the one at hand, in the order of rows; of one action where that is given. */
export async function openNextFailed(view: SheetView, action?: string): Promise<void> {
  const { opened } = view.address
  const current = opened.row ?? view.rows.row(view.state.getState().active.row)?.row_id ?? null
  const filter =
    action === undefined ? { action: 'any', is: FAILED } : { action_instance_id: action, is: FAILED }
  const { data } = await request<RowPage>('POST', `${view.path}/rows/list`, {
    page_size: 200,
    status_filters: [filter],
  })
  const actions = view.columns.filter((column) => column.kind === 'action').map(({ key }) => key)
  const cells = data.rows.flatMap((row) =>
    actions
      .filter((key) => (action === undefined || key === action) && isFailed(row.cells[key]?.status))
      .map((key) => ({ row: row.row_id, action: key })),
  )
  // Ids grow with the order of rows; behind the last it begins again.
  const at = cells.findIndex((cell) => cell.row === current && cell.action === (opened.cell ?? cell.action))
  const next =
    at >= 0 ? cells[(at + 1) % cells.length] : (cells.find((cell) => cell.row > (current ?? '')) ?? cells[0])
  if (next === undefined) {
    notify('No cell has failed')
    return
  }
  const index = view.rows.indexOf(next.row)
  const column = view.placed.findIndex(({ key }) => key === next.action) + 1
  if (index !== null && column > 0) view.state.getState().goTo({ row: index, column })
  view.address.openCell(next.row, next.action)
}
