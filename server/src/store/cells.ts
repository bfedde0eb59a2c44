import type { Cell, CellStatus } from '#contract/rows.ts'
import type { Db } from './db.ts'
import type { SheetKey } from './rows.ts'

/** The cells of some rows, by row and action. */
export async function listCells(
  db: Db,
  sheet: SheetKey,
  rowIds: readonly string[],
): Promise<Map<string, Record<string, Cell>>> {
  const byRow = new Map<string, Record<string, Cell>>()
  if (rowIds.length === 0) return byRow
  const cells = await db
    .selectFrom('cells')
    .select(['row_id', 'action', 'status', 'outputs', 'error'])
    .where('org_id', '=', sheet.org_id)
    .where('sheet_id', '=', sheet.sheet_id)
    .where('row_id', 'in', rowIds)
    .execute()
  for (const cell of cells) {
    const row = byRow.get(cell.row_id) ?? {}
    byRow.set(cell.row_id, row)
    row[cell.action] = {
      status: cell.status as CellStatus,
      ...(cell.outputs === null ? {} : { outputs: cell.outputs as Record<string, unknown> }),
      ...(cell.error === null ? {} : { error: cell.error }),
    }
  }
  return byRow
}
