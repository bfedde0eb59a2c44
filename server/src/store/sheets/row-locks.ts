import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/**
 * Launching rows and deleting all rows of a sheet exclude each other until the end of the transaction: otherwise a row could
 * be launched that is hidden a moment later, and be run and charged. Adding rows takes no part in this.
 */
export function sharedRowsLock(sheetId: string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(hashtextextended(${sheetId}, 0))`
}

export async function shareRows(db: Db, sheetId: string): Promise<void> {
  await sql`select ${sharedRowsLock(sheetId)}`.execute(db)
}

export async function ownRows(db: Db, sheetId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${sheetId}, 0))`.execute(db)
}
