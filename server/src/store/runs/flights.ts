import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/** The action that a flight `f` of the run `run` is at: the first that has no result of that run. */
export const flightAction: RawBuilder<string> = sql`run.actions[1 + (select count(*) from cells c
  where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id)]`

/**
 * Takes rows out of the air: results that are still under way find no flight and have no effect, and whoever has them gives
 * back what they hold. Call it in the transaction that deletes or stops them. `queuedOnly` leaves cells that are running. Flights are locked
 * in the order of their rows, as everybody does.
 */
export async function dropFlights(
  db: Db,
  orgId: string,
  which:
    | { sheetIds: readonly string[]; queuedOnly?: boolean }
    | { sheetId: string; rowIds: readonly string[] },
): Promise<number> {
  const chosen =
    'rowIds' in which
      ? // Ids may come from a caller: those of other sheets are none of this one's.
        sql`f.row_id = any(${which.rowIds}::uuid[]) and exists (select from rows r
          where r.org_id = f.org_id and r.row_id = f.row_id and r.sheet_id = ${which.sheetId})`
      : sql`f.run_id in (select run_id from runs where org_id = ${orgId} and sheet_id = any(${which.sheetIds}::uuid[])
          and state <> 'finished')${which.queuedOnly ? sql` and f.status = 'queued'` : sql``}`
  const { rows } = await sql<{ dropped: number }>`
    with chosen as materialized (
      select f.row_id from flights f where f.org_id = ${orgId} and ${chosen} order by f.row_id for update
    ), gone as (
      delete from flights f using chosen where f.org_id = ${orgId} and f.row_id = chosen.row_id returning f.row_id
    )
    select count(*) as dropped from gone`.execute(db)
  return rows[0]?.dropped ?? 0
}
