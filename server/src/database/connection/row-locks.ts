import { type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'

// Locks are taken in this order, those of one kind by ascending id; ARCHITECTURE.md, "Locks", says who takes which:
//   what brings rows (import, webhook ids, schedule, source) > room for rows (row-quota.ts) > workflow >
//   rows lock of the sheet > row counter > runs > flights > organisation. Rows that are being added have no flight that anybody else could hold.

/**
 * The rows lock: launching rows and deleting all rows of a sheet exclude each other until the end of the transaction. Otherwise
 * a row could be launched that is hidden a moment later, and be run and charged. Adding rows that do not run needs none.
 */
export function sharedRowsLock(sheetId: RawBuilder<unknown> | string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(hashtextextended(${sheetId}, 0))`
}

export function exclusiveRowsLock(sheetId: RawBuilder<unknown> | string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock(hashtextextended(${sheetId}, 0))`
}

export async function lockRowsExclusively(db: Db, sheetIds: readonly string[]): Promise<void> {
  await sql`select ${exclusiveRowsLock(sql`id`)} from unnest(${sheetIds.toSorted()}::text[]) as t (id)`.execute(
    db,
  )
}

/** Nobody else adds or deletes rows of these sheets until the end of the transaction. */
export async function lockCounters(db: Db, orgId: string, sheetIds: readonly string[]): Promise<void> {
  await sql`select from sheet_counters where org_id = ${orgId} and sheet_id = any(${sheetIds}::uuid[])
    order by sheet_id for update`.execute(db)
}
