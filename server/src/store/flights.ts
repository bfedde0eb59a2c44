import { sql } from 'kysely'
import type { Db } from './db.ts'

/**
 * Takes rows out of the air: what they held is given back, and results that are still under way find no flight and have no
 * effect. Call it in the transaction that deletes or stops them. `queuedOnly` leaves cells that are running.
 */
export async function dropFlights(
  db: Db,
  orgId: string,
  which: { sheetIds: readonly string[]; queuedOnly?: boolean } | { rowIds: readonly string[] },
): Promise<number> {
  const chosen =
    'rowIds' in which
      ? sql`f.row_id = any(${which.rowIds}::uuid[])`
      : sql`f.sheet_id = any(${which.sheetIds}::uuid[])${which.queuedOnly ? sql` and f.status = 'queued'` : sql``}`
  const { rows } = await sql<{ dropped: number }>`
    with gone as (
      delete from flights f where f.org_id = ${orgId} and ${chosen} returning f.run_id, f.held_millis
    ), released as (
      update organisations set held_millis = held_millis - (select sum(held_millis) from gone)
      where org_id = ${orgId} and (select sum(held_millis) from gone) > 0
    )
    select count(*) as dropped from gone`.execute(db)
  return rows[0]?.dropped ?? 0
}
