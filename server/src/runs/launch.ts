import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { announcing } from '../database/connection/changes.ts'
import type { Db } from '../database/connection/db.ts'
import { KEYED } from '../database/connection/statement-names.ts'
import { NEXT_GROUP_PRIORITY } from '../database/queue/jobs.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { openCap } from '../money/caps.ts'
import { LATEST_PRICES } from '../money/store/price-versions.ts'
import type { Actor } from '../organisation/store/audit.ts'
import { unlaunchedRows } from './launch-pieces.ts'
import { chosenRows, orderOfRun } from './row-choice.ts'
import { addRowJobs, type VirtualTime } from './row-jobs.ts'
import { BY_API, type RunRequest } from './run-request.ts'

const keyed = sql.raw(KEYED)
/**
 * The further columns of flights that begin at a failed cell. Theirs is not the first attempt: the worker that claims one
 * looks for the results that its row has.
 */
const FURTHER_ON = sql`, skipped, (skipped > 0)::int`
/** A number beyond those of all rows. */
const LAST = sql.raw('9223372036854775807')

export type StartedRun = {
  runId: string
  /** The run that has the rows, if all of them were in flight already (D21). */
  joined: string | null
  rowsQueued: number
  /** Set if all rows of the run are enqueued. The others are enqueued in pieces (launch-pieces.ts). */
  isLaunched: boolean
}

export type LaunchOptions = {
  /** The number of rows to enqueue at first, if all rows of a sheet run. Needs the rows lock alone. */
  first?: number | undefined
  /** Set if some rows may be among those that another run is still to enqueue. Such rows belong to that run (D21). */
  joins?: boolean
}

/**
 * Creates a run, its flights and their jobs. None of the rows may be in flight under a stopped run. The caller has
 * taken the locks by startRun or lockArrivals.
 */
export async function launchRows(
  db: Db,
  actor: Actor,
  request: RunRequest,
  options: LaunchOptions = {},
): Promise<StartedRun> {
  const { sheet } = request
  const run_id = newId()
  // Jobs of rows that were stopped or deleted stay in the queue. The ticket keeps them apart from jobs of a later run.
  const ticket = randomInt(2 ** 30)
  const cap = await openCap(db, sheet.org_id, request.cap)
  const launching = { run_id, ticket, cap, ...options }
  const { chosen, launched, joined, is_whole, base, weight } = await launch(db, actor, request, launching)
  const order = orderOfRun(request.rows)
  const flights = { org_id: sheet.org_id, run_id, ticket, count: launched, base, weight, sheet, order }
  const isWhole = request.rows.kind !== 'from_failure'
  await addRowJobs(db, {
    ...flights,
    actions: request.actions,
    isWhole,
    mayHandOver: isWhole && order === undefined,
  })
  return { runId: run_id, joined, rowsQueued: chosen, isLaunched: is_whole }
}

type Launched = VirtualTime & {
  chosen: number
  launched: number
  joined: string | null
  is_whole: boolean
}
type Launching = { run_id: string; ticket: number; cap: string | null } & LaunchOptions

/**
 * Writes the run's record and its flights. A run that finds nothing to enqueue is finished at once. The rows lock keeps
 * the sheet from being deleted, so a counter that exists stays, and no run is recorded for a deleted sheet. If all rows
 * run, the first of them are chosen before the rows that another run is still to enqueue.
 */
async function launch(
  db: Db,
  actor: Actor,
  request: RunRequest,
  { run_id, ticket, cap, first, joins = false }: Launching,
): Promise<Launched> {
  const { sheet, actions, trigger, rows: choice, hops = 0, member = null } = request
  const { org_id, sheet_id, workflow_id } = sheet
  const others = joins ? unlaunchedRows(sheet) : sql`select '{}'::int8multirange as rows`
  const limited =
    first === undefined
      ? sql``
      : sql`and r.seq < (select coalesce(lower(rows), ${LAST}) from others) order by r.seq limit ${sql.lit(first)}`
  const { rows } = await sql<Partial<Launched>>`${keyed}
    with others as materialized (${others}),
    chosen as materialized (${chosenRows(sheet, choice)} ${limited}),
    launched as (
      insert into flights (org_id, sheet_id, row_id, run_id, status, ticket${choice.kind === 'from_failure' ? sql`, skipped, attempt` : sql``})
      select ${org_id}, ${sheet_id}, row_id, ${run_id}, 'queued', ${ticket}::int${choice.kind === 'from_failure' ? FURTHER_ON : sql``} from chosen
      where not seq <@ (select rows from others) order by row_id
      on conflict (org_id, row_id) do nothing returning row_id
    ), time as materialized (${virtualNow(org_id)}),
    counted as materialized (${first === undefined ? countWhole(sheet) : countFirst(sheet)}),
    recorded as (
      insert into runs (org_id, run_id, sheet_id, trigger, selector, revision, actions, cache_enabled, cache_since,
        continue_on_fail, hops, cap_purse_id, member, created_by, key_id, price_version, rows_queued, unlaunched, state, finished_at)
      select ${org_id}, ${run_id}, ${sheet_id}, ${trigger}, ${JSON.stringify(choice)}::jsonb, ${sheet.revision}::int,
        ${actions}::text[], ${sheet.cache_enabled}::boolean, ${sheet.cache_since}::date, ${sheet.continue_on_fail}::boolean,
        ${hops}::int, ${cap}::uuid, ${member}, ${actor.email}, ${actor.keyId}::uuid, ${LATEST_PRICES}, launched + later, unlaunched,
        case when launched > 0 or not is_whole then 'running' else 'finished' end,
        case when launched = 0 and is_whole then now() end
      from counted
    ), touched as (
      update workflows w set last_run_at = now() from counted
      where ${BY_API.has(trigger)}::boolean and counted.chosen > 0
        and w.org_id = ${org_id} and w.workflow_id = ${workflow_id}
    ), noted as (
      insert into audit_entries (org_id, entry_id, actor, key_id, action, target, details)
      select ${org_id}, ${newId()}, ${actor.email}, ${actor.keyId}::uuid, 'run.started', ${sheet_id}::text,
        jsonb_build_object('run_id', ${run_id}::text, 'rows', chosen) from counted
    )
    select chosen, launched, case when launched = 0 and is_whole then (${joinedRun(sheet)}) end as joined, is_whole, time.base, time.weight, ${announcing(sheet_id)}
    from time left join counted on true`.execute(db)
  const { chosen, launched, joined = null, is_whole, base = 1, weight = 1 } = rows[0] ?? {}
  // A missing counter means that the sheet has been deleted.
  if (typeof chosen !== 'number' || typeof launched !== 'number' || is_whole === undefined)
    throw notFound('Sheet')
  return { chosen, launched, joined, is_whole, base, weight }
}

/**
 * Counts for a run that enqueues all its rows at once, so that none is left. Each part of a statement takes time, also
 * for a run of one row.
 */
const countWhole = ({ org_id, sheet_id }: SheetKey) => sql`
      select (select count(*) from chosen) as chosen, (select count(*) from launched) as launched, true as is_whole, 0 as later,
        null::jsonb as unlaunched
      from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}`

/** Counts for a run that enqueues its first rows: which rows are left, and how many. */
const countFirst = ({ org_id, sheet_id }: SheetKey) => sql`
      select greatest(found, total) as chosen, launched, isempty(rest) as is_whole,
        case when isempty(rest) then 0 else least(total - found, (select sum(upper(s) - lower(s)) from unnest(rest) as s)) end as later,
        case when not isempty(rest) then jsonb_build_object('rows', rest::text, 'launched', launched, 'base', time.base,
          'weight', time.weight, 'at', now(), 'beside', exists (select from runs u
            join flights f on f.org_id = u.org_id and f.run_id = u.run_id
            where u.org_id = ${org_id} and u.sheet_id = ${sheet_id} and u.state = 'running')) end as unlaunched
      from time, (select first_seq, next_seq, next_seq - first_seq - deleted as total,
          (select count(*) from chosen) as found, (select count(*) from launched) as launched
        from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}) counts,
        lateral (select case when found < total
          then int8multirange(int8range(coalesce((select max(seq) from chosen) + 1, first_seq), next_seq)) - (select rows from others)
          else '{}' end as rest) later`

/** Returns the run that has the first of the chosen rows in flight, or is still to enqueue it. */
const joinedRun = ({ org_id, sheet_id }: SheetKey) => sql`
  select coalesce(
    (select run_id from flights f where f.org_id = ${org_id} and f.row_id = one.row_id),
    (select run_id from runs u where u.org_id = ${org_id} and u.sheet_id = ${sheet_id} and u.state = 'running'
      and u.unlaunched is not null and one.seq <@ (u.unlaunched->>'rows')::int8multirange limit 1))
  from (select row_id, seq from chosen limit 1) one`

/** Adds jobs for flights that exist and keep their cells: those of a resumed run. */
export async function queueFlights(
  db: Db,
  flights: { org_id: string; run_id: string; ticket: number },
  count: number,
): Promise<void> {
  const { rows } = await sql<VirtualTime>`${virtualNow(flights.org_id)}`.execute(db)
  const { base, weight } = rows[0] ?? { base: 1, weight: 1 }
  await addRowJobs(db, { ...flights, count, base, weight, actions: [], isWhole: true, mayHandOver: false })
}

/**
 * Returns the virtual time at which a run starts, and its weight. A job's priority is a virtual time, which makes the
 * order fair: a run starts at that of the jobs waiting now, and its rows are spread behind each other, the wider the
 * more runs its organisation has under way. So a short run is soon done and two long runs share. Jobs outside the order
 * of runs (parked rows and chores) have priority 0.
 */
function virtualNow(orgId: string) {
  return sql`select
    coalesce((${sql.raw(NEXT_GROUP_PRIORITY)}), 1) as base,
    1 + (select count(*) from runs where org_id = ${orgId} and state = 'running')::int as weight`
}
