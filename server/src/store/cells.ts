import { sql } from 'kysely'
import type { Cell } from '#contract/rows.ts'
import { parseLossless } from '../lib/lossless-json.ts'
import type { Db } from './db.ts'

export type CellsByRow = Map<string, Record<string, Cell>>

/** The cells of some rows by row and action: results, and the one that is queued or running. */
export async function listCells(db: Db, orgId: string, rowIds: readonly string[]): Promise<CellsByRow> {
  const byRow: CellsByRow = new Map()
  if (rowIds.length === 0) return byRow
  const { rows } = await sql<{
    row_id: string
    action: string
    status: Cell['status']
    outputs: string | null
    error: string | null
  }>`
    select row_id, action, status, outputs::text as outputs, error from cells
    where org_id = ${orgId} and row_id = any(${rowIds}::uuid[])
    union all
    select row_id, action, status, null, null from flights
    where org_id = ${orgId} and row_id = any(${rowIds}::uuid[])`.execute(db)
  for (const { row_id, action, status, outputs, error } of rows) {
    const row = byRow.get(row_id) ?? {}
    byRow.set(row_id, row)
    row[action] = {
      status,
      ...(outputs === null ? {} : { outputs: parseLossless(outputs) as Record<string, unknown> }),
      ...(error === null ? {} : { error }),
    }
  }
  return byRow
}
