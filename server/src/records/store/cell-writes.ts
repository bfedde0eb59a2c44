import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** A run of a cell, the same for every attempt. */
export type CellRun = { runId: string; rowId: string; action: string }

/**
 * Finds the answer of an earlier write of this cell run into the record store, or undefined. Also returns the
 * database's time.
 */
export async function findCellWrite(
  db: Db,
  orgId: string,
  { runId, rowId, action }: CellRun,
): Promise<{ answer: unknown; now: Date }> {
  const { rows } = await sql<{ answer: unknown; now: Date }>`
    select now() as now, (
      select answer from record_cell_writes
      where org_id = ${orgId} and row_id = ${rowId} and run_id = ${runId} and action = ${action}) as answer`.execute(
    db,
  )
  const [found] = rows
  if (found === undefined) throw new Error('the database returned no time')
  return { answer: found.answer ?? undefined, now: found.now }
}

/** Finds the answers for several cells, in their order. */
export async function findCellWrites(
  db: Db,
  orgId: string,
  cells: readonly CellRun[],
): Promise<{ answers: unknown[]; now: Date }> {
  const { rows } = await sql<{ answer: unknown; now: Date }>`
    select now() as now, (
      select answer from record_cell_writes
      where org_id = ${orgId} and row_id = cell.row_id and run_id = cell.run_id and action = cell.action) as answer
    from ${cellsOf(cells)} order by cell.n`.execute(db)
  const [found] = rows
  if (found === undefined) throw new Error('the database returned no time')
  return { answers: rows.map(({ answer }) => answer ?? undefined), now: found.now }
}

const cellsOf = (cells: readonly CellRun[]) => sql`
  unnest(${cells.map(({ rowId }) => rowId)}::uuid[], ${cells.map(({ runId }) => runId)}::uuid[],
    ${cells.map(({ action }) => action)}::text[]) with ordinality as cell (row_id, run_id, action, n)`

/** Does the same as `addCellWrite` for several cells. Returns false if another worker has written for one of them. */
export async function addCellWrites(
  db: Db,
  orgId: string,
  written: readonly { cell: CellRun; answer: object }[],
): Promise<boolean> {
  const answers = JSON.stringify(written.map(({ answer }) => answer))
  const { numAffectedRows } = await sql`
    insert into record_cell_writes (org_id, row_id, run_id, action, answer)
    select ${orgId}, cell.row_id, cell.run_id, cell.action, ${answers}::jsonb -> (cell.n - 1)::int
    from ${cellsOf(written.map(({ cell }) => cell))} order by cell.row_id
    on conflict do nothing`.execute(db)
  return Number(numAffectedRows) === written.length
}

/**
 * Records the answer of a cell run. Call it in the transaction of the write. Returns false if another worker has
 * written for this cell run meanwhile.
 */
export async function addCellWrite(
  db: Db,
  orgId: string,
  { runId, rowId, action }: CellRun,
  answer: object,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into record_cell_writes (org_id, row_id, run_id, action, answer)
    values (${orgId}, ${rowId}, ${runId}, ${action}, ${JSON.stringify(answer)}::jsonb)
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}
