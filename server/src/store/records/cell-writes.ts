import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/** One run of one cell, the same each time that it is tried. */
export type CellRun = { runId: string; rowId: string; action: string }

/** What a cell was answered when it wrote into the record store, as JSON; undefined when it has not. */
export async function findCellWrite(db: Db, orgId: string, cell: CellRun): Promise<unknown> {
  const { rows } = await sql<{ answer: unknown }>`
    select answer from record_cell_writes
    where org_id = ${orgId} and row_id = ${cell.rowId} and run_id = ${cell.runId} and action = ${cell.action}`.execute(
    db,
  )
  return rows[0]?.answer
}

/** In the transaction of what was written. Of two that try the same cell at once, the later waits and then fails. */
export async function addCellWrite(db: Db, orgId: string, cell: CellRun, answer: object): Promise<void> {
  await sql`
    insert into record_cell_writes (org_id, row_id, run_id, action, answer)
    values (${orgId}, ${cell.rowId}, ${cell.runId}, ${cell.action}, ${JSON.stringify(answer)}::jsonb)`.execute(
    db,
  )
}
