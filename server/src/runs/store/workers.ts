import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** Returns whether any process takes rows at this time. A worker reports itself every second. */
export async function hasWorker(db: Db): Promise<boolean> {
  const { rows } =
    await sql`select from workers where beat_at > now() - interval '10 seconds' limit 1`.execute(db)
  return rows.length > 0
}
