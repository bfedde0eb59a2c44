import { type RawBuilder, sql } from 'kysely'
import type { Db } from './db.ts'

// Locks are taken in this order, and locks of one kind by ascending id; server/src/database/README.md says which code
// takes which lock: sources of rows (import, webhook ids, schedule, source) > row quota (row-quota.ts) > workflow >
// rows lock of the sheet > row counter > runs > flights > organisation. Rows that are being added have no flight yet
// that another transaction could lock.

/**
 * Returns the shared rows lock of a sheet. Enqueueing rows of a sheet and deleting all of them exclude each other
 * until the end of the transaction. Otherwise a row could be enqueued, hidden a moment later, and still be run and
 * charged. Adding rows that do not run needs no lock.
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

/** Locks the row counters of these sheets: no other transaction adds or deletes their rows until this one ends. */
export async function lockCounters(db: Db, orgId: string, sheetIds: readonly string[]): Promise<void> {
  await sql`select from sheet_counters where org_id = ${orgId} and sheet_id = any(${sheetIds}::uuid[])
    order by sheet_id for update`.execute(db)
}

/**
 * Takes a lock by name until the transaction ends. Transactions that take the same lock wait for each other, so what
 * a later one counts stays true.
 */
export async function takeNamedLock(trx: Db, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx)
}
