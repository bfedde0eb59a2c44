import { sql } from 'kysely'
import type { Db } from './db.ts'

/**
 * Takes a lock by name until the transaction ends. Transactions that take the same lock wait for each other, so what
 * a later one counts stays true.
 */
export async function takeNamedLock(trx: Db, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx)
}
