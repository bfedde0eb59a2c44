import { sql } from 'kysely'
import type { Db } from './db.ts'

/** Those who take the same lock wait for each other until their transactions end: what the second then counts holds. */
export async function takeNamedLock(trx: Db, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx)
}
