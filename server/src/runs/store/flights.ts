import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { NO_ID } from '../../lib/ids.ts'
import { endStopped } from './former-cells.ts'

type Condition = RawBuilder<unknown>

/** The action that a flight `f` of the run `run` is at: the first one that it does not skip without a result of that run. */
export const flightAction: RawBuilder<string> = sql`run.actions[1 + f.skipped + (select count(*) from cells c
  where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id)]`

/** Holds if a flight `f` of the run `run` is at a cell that is not its last one. */
export const isBeforeLast: RawBuilder<boolean> = sql`1 + f.skipped + (select count(*) from cells c
  where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id) < cardinality(run.actions)`

/**
 * The number of flights that one statement deletes. A statement that deletes millions would meet the statement timeout.
 */
const CHUNK = 50_000

/**
 * Deletes the flights of rows. Results still under way find no flight and have no effect on rows. A call that was
 * already made is charged all the same: `dropped_flights` keeps the fence of its worker. Call it in the transaction
 * that deletes the rows. Flights are locked in the order of their rows, as everywhere. If the rows stay (`stay`), cells
 * that were to run again get their former result back (D84).
 */
export async function dropFlights(
  db: Db,
  orgId: string,
  which: { sheetIds: readonly string[] } | { sheetId: string; rowIds: readonly string[]; stay?: boolean },
  chunk = CHUNK,
): Promise<number> {
  if ('rowIds' in which) {
    // Ids may come from a caller, so those of other sheets are left out. The condition on the sheet is written with `is
    // true`, so that no index is used for it.
    return dropChosen(
      db,
      orgId,
      sql`f.row_id = any(${which.rowIds}::uuid[]) and (f.sheet_id = ${which.sheetId}) is true`,
      which.stay === true,
    )
  }
  return dropOfRuns(db, orgId, sql`sheet_id = any(${which.sheetIds}::uuid[]) and state <> 'finished'`, {
    also: sql``,
    stay: false,
    chunk,
  })
}

/** Deletes the flights of stopped runs that are not running a cell. Call it in the transaction that stops the runs. */
export const dropQueued = (db: Db, orgId: string, sheetId: string): Promise<number> =>
  dropOfRuns(db, orgId, sql`sheet_id = ${sheetId} and state = 'stopped'`, {
    also: sql` and f.status = 'queued'`,
    stay: true,
    chunk: CHUNK,
  })

/** Deletes the flights of these runs, in stretches of rows. No flight may be added to the runs meanwhile. */
async function dropOfRuns(
  db: Db,
  orgId: string,
  runs: Condition,
  { also, stay, chunk }: { also: Condition; stay: boolean; chunk: number },
): Promise<number> {
  const { rows: found } = await sql<{ run_id: string }>`select run_id from runs
    where org_id = ${orgId} and ${runs}`.execute(db)
  const ids = found.map(({ run_id }) => run_id)
  if (ids.length === 0) return 0
  const { rows: bounds } = await sql<{ row_id: string }>`
    select row_id from (
      select f.row_id, row_number() over (order by f.row_id) as n from flights f
      where f.org_id = ${orgId} and f.run_id = any(${ids}::uuid[])${also}
    ) numbered where n % ${chunk} = 0 order by row_id`.execute(db)
  const ofRuns = sql`f.run_id = any(${ids}::uuid[])${also}`
  if (bounds.length === 0) return dropChosen(db, orgId, ofRuns, stay)
  // Finds the flights by the primary key. By their runs, all flights would be read again for every stretch.
  const among = sql`array_position(${ids}::uuid[], f.run_id) is not null${also}`
  let dropped = 0
  let after = NO_ID
  for (const { row_id } of bounds) {
    const stretch = sql`f.row_id > ${after} and f.row_id <= ${row_id} and ${among}`
    dropped += await dropChosen(db, orgId, stretch, stay)
    after = row_id
  }
  return dropped + (await dropChosen(db, orgId, sql`f.row_id > ${after} and ${among}`, stay))
}

async function dropChosen(db: Db, orgId: string, chosen: Condition, stay: boolean): Promise<number> {
  const { rows } = await sql<{ dropped: number }>`
    with chosen as materialized (
      select f.org_id, f.row_id from flights f where f.org_id = ${orgId} and ${chosen} order by f.row_id for update
    ), gone as (
      delete from flights f using chosen where f.org_id = chosen.org_id and f.row_id = chosen.row_id
      returning f.org_id, f.sheet_id, f.row_id, f.run_id, f.ticket, f.attempt, f.status
    ), noted as (
      insert into dropped_flights as d (org_id, row_id, run_id, ticket, attempt)
      select org_id, row_id, run_id, ticket, attempt from gone where status = 'running'
      on conflict (org_id, row_id, run_id) do update set ticket = excluded.ticket, attempt = excluded.attempt,
        dropped_at = excluded.dropped_at
    )${stay ? END_STOPPED : sql``}
    select count(*) as dropped from gone`.execute(db)
  return rows[0]?.dropped ?? 0
}

const END_STOPPED = sql.raw(`, ${endStopped('gone')}`)

/** Deletes records of dropped flights whose calls ended long ago. */
export async function forgetDroppedFlights(db: Db): Promise<void> {
  await sql`delete from dropped_flights where dropped_at < now() - interval '1 day'`.execute(db)
}
