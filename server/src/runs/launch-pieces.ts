import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import { announcing } from '../database/connection/changes.ts'
import { type Db, inTransaction, type Store } from '../database/connection/db.ts'
import { sharedRowsLock } from '../database/connection/locks.ts'
import { KEYED, KEYED_UNHURRIED } from '../database/connection/statement-names.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { allRows } from './row-choice.ts'
import { addRowJobs, type VirtualTime } from './row-jobs.ts'

// A run of all rows of a large sheet enqueues its first rows at once, so that work begins immediately. The other rows
// follow piece by piece; each piece is a transaction that moves the run on. Until their turn, rows have neither flights
// nor jobs and keep their old cells. The request that started the run enqueues the pieces. If no piece follows for a
// while because its process ended, any worker goes on.

/** The number of rows in a piece. */
const PIECE = 2500
/** The number of first rows of a run whose starter goes on with the other rows. */
export const FIRST_PIECE = 1000
/**
 * The number of first rows of a run whose starter does not go on. They are one transaction, which takes much less than
 * a minute.
 */
export const FIRST_BY_ITSELF = 100_000
/** The time for which the request that started a run enqueues the other rows before it answers. */
const DRIVING_MS = 20_000
/** The time without a new piece after which a worker takes over. */
const SILENCE = sql.raw(`interval '3 seconds'`)

const keyed = sql.raw(KEYED)
/**
 * Settings for the planner of this transaction. Every statement here looks up by key. A plan that scans whole tables,
 * made while they were small, would never end. Without bitmap scans the next flights are read in the order of their
 * key, instead of all that are left being sorted.
 */
export const keyedPlans = sql`set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true),
  set_config('enable_bitmapscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

export type RunKey = SheetKey & { run_id: string }
/**
 * The part of the run's record about rows that are not enqueued: their numbers, and how many of its rows have a flight
 * already. `beside` means that rows of the sheet were in flight when the run began.
 */
type Unlaunched = VirtualTime & { launched: number; beside: boolean }
/** A range of row numbers; `stop` is not included. */
type Stretch = { start: number; stop: number }

/**
 * Returns the numbers of the rows of the sheet that its runs are still to enqueue. These rows count as in flight (D21).
 */
export const unlaunchedRows = ({ org_id, sheet_id }: SheetKey) => sql`
  select coalesce(range_agg((unlaunched->>'rows')::int8multirange), '{}') as rows from runs
  where org_id = ${org_id} and sheet_id = ${sheet_id} and state = 'running' and unlaunched is not null`

/** Enqueues the remaining rows of a run, for as long as a caller may wait for them. */
export async function launchRest(db: Db, run: RunKey): Promise<void> {
  const end = performance.now() + DRIVING_MS
  while (performance.now() < end) {
    if (await launchPiece(db, run)) return
  }
}

/** Defines the job that goes on with runs whose process ended before all their rows were enqueued. */
export function launchJob(store: Store): Job {
  return defineJob({
    name: 'launch_runs',
    everySecond: true,
    payload: z.undefined(),
    async run(_, signal) {
      const { rows } = await sql<RunKey>`select org_id, sheet_id, run_id from runs
        where unlaunched is not null and state = 'running' and (unlaunched->>'at')::timestamptz < now() - ${SILENCE}
        order by run_id`.execute(store.system)
      await launchInTurn(store.system, rows, signal)
    },
  })
}

/**
 * Enqueues a piece of each run in turn, so that a small run does not wait for a large one. A run that fails does not
 * delay the others.
 */
async function launchInTurn(db: Db, runs: readonly RunKey[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  let left = runs
  while (left.length > 0 && !signal.aborted) {
    const unfinished: RunKey[] = []
    for (const run of left) {
      try {
        if (!(await launchPiece(db, run))) unfinished.push(run)
      } catch (cause) {
        failures.push(cause)
      }
      if (signal.aborted) break
    }
    left = unfinished
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, 'several runs could not be launched')
}

/**
 * Enqueues the next rows of a run. Returns true if none is left, or the run is over. No other transaction enqueues
 * these rows. Rows that are already in flight are looked for only if the sheet had rows in flight when the run began,
 * or after an insert met one.
 */
async function launchPiece(db: Db, run: RunKey): Promise<boolean> {
  try {
    return await inTransaction(db, (trx) => launchIn(trx, run, { careful: false }))
  } catch (cause) {
    if (!isAlreadyInFlight(cause)) throw cause
    return inTransaction(db, (trx) => launchIn(trx, run, { careful: true }))
  }
}

const UNIQUE_VIOLATION = '23505'
const isAlreadyInFlight = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === UNIQUE_VIOLATION

async function launchIn(trx: Db, run: RunKey, { careful }: { careful: boolean }): Promise<boolean> {
  const { org_id, sheet_id, run_id } = run
  await sql`${sql.raw(KEYED_UNHURRIED)} select ${keyedPlans}, ${sharedRowsLock(sheet_id)}`.execute(trx)
  const { rows: found } = await sql<Stretch & { unlaunched: Unlaunched; actions: string[] }>`${keyed}
    select unlaunched, actions, lower(stretch) as start, upper(stretch) as stop
    from (
      select unlaunched, actions from runs
      where org_id = ${org_id} and run_id = ${run_id} and state = 'running' and unlaunched is not null
      for no key update
    ) run, lateral (select stretch from unnest((unlaunched->>'rows')::int8multirange) as s (stretch) limit 1) first`.execute(
    trx,
  )
  if (found[0] === undefined) return true
  const { unlaunched, actions, ...stretch } = found[0]
  const { base, weight, launched: earlier } = unlaunched
  const ticket = randomInt(2 ** 30)
  const {
    launched: count,
    start,
    is_whole,
  } = await launchNext(trx, run, { ticket, ...unlaunched, careful }, stretch)
  const time = { base, weight }
  await addRowJobs(trx, {
    org_id,
    run_id,
    ticket,
    count,
    earlier,
    start,
    ...time,
    actions,
    isWhole: true,
    mayHandOver: false,
  })
  return is_whole
}

type Piece = { launched: number; start: string | null; is_whole: boolean }

/**
 * Enqueues one piece and moves the run's record on. At the end the run counts the rows that it enqueued: some may have
 * been deleted, or be in flight already. Rows that were in flight when the run began, and have finished since, have
 * their results by the run that they joined (D21).
 */
async function launchNext(
  trx: Db,
  { org_id, sheet_id, run_id }: RunKey,
  { ticket, launched: earlier, beside, careful }: Unlaunched & { careful: boolean } & { ticket: number },
  { start, stop }: Stretch,
): Promise<Piece> {
  const joined = sql`exists (select from cells c where c.org_id = ${org_id} and c.row_id = chosen.row_id
    and c.completed_at >= (select created_at from runs where org_id = ${org_id} and run_id = ${run_id}) offset 0)`
  const { rows } = await sql<Piece>`${keyed}
    with chosen as materialized (
      ${allRows({ org_id, sheet_id })} and r.seq >= ${start}::bigint and r.seq < ${stop}::bigint order by r.seq limit ${sql.lit(PIECE)}
    ), launched as (
      insert into flights (org_id, sheet_id, row_id, run_id, status, ticket)
      select ${org_id}, ${sheet_id}, row_id, ${run_id}, 'queued', ${ticket}::int from chosen ${beside ? sql`where not ${joined}` : sql``}
      order by row_id
      ${beside || careful ? sql`on conflict (org_id, row_id) do nothing` : sql``} returning row_id
    ), counts as materialized (
      select found, last, (select count(*) from launched) as launched
      from (select count(*) as found, max(seq) as last from chosen) chosen
    ), counted as materialized (
      select found, launched, isempty(rest) as is_whole, ${earlier}::bigint + launched as all_launched, rest
      from counts, lateral (
        select (unlaunched->>'rows')::int8multirange - int8multirange(int8range(${start}::bigint,
          case when found < ${PIECE} then ${stop}::bigint else last + 1 end)) as rest
        from runs where org_id = ${org_id} and run_id = ${run_id} offset 0
      ) run
    ), moved as (
      update runs r set
        rows_queued = case when is_whole then all_launched else r.rows_queued - found + launched end,
        unlaunched = case when not is_whole then r.unlaunched
          || jsonb_build_object('rows', rest::text, 'launched', all_launched, 'at', clock_timestamp()) end,
        state = case when is_whole and all_launched = 0 then 'finished' else r.state end,
        finished_at = case when is_whole and all_launched = 0 then now() end
      from counted where r.org_id = ${org_id} and r.run_id = ${run_id}
    )
    select launched, (select row_id from launched order by row_id limit 1) as start, is_whole, ${announcing(sheet_id)}
    from counted`.execute(trx)
  const [piece] = rows
  if (piece === undefined) throw new Error(`run ${run_id}: nothing was counted`)
  return piece
}
