import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { StatusFilter } from '#contract/rows.ts'
import type { OnlyRows } from '#contract/runs.ts'
import { notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { announcing } from '../store/connection/changes.ts'
import type { Db } from '../store/connection/db.ts'
import { KEYED } from '../store/connection/statement-names.ts'
import { type Actor, recordAudit } from '../store/organisation/audit.ts'
import { LATEST_PRICES } from '../store/organisation/price-versions.ts'
import { NEXT_GROUP_PRIORITY } from '../store/queue/jobs.ts'
import { dropFlights } from '../store/runs/flights.ts'
import { type Condition, conditionsOf } from '../store/sheets/row-filters.ts'
import { exclusiveRowsLock, sharedRowsLock } from '../store/sheets/row-locks.ts'
import type { Selection } from '../store/sheets/selection.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import { unfinishedRows } from '../store/sheets/unfinished-rows.ts'
import { lockWorkflow } from '../store/sheets/workflows.ts'
import { type Cap, openCap } from './caps.ts'
import { addRowJobs, type VirtualTime } from './row-jobs.ts'

/** What started a run. Those of the API count as the workflow's last run (D45). */
export type Trigger =
  | 'api'
  | 'shortcut'
  | 'auto_run'
  | 'schedule'
  | 'webhook'
  | 'source'
  | 'segment'
  | 'send_to_sheet'

/** Which rows to run: all, some by id, the first few, or those that meet a selection. */
export type RowChoice =
  | { kind: 'all' }
  | { kind: 'ids'; ids: readonly string[] }
  | { kind: 'first'; count: number }
  | { kind: 'matching'; selection: Selection }
  /** Those that did not come to the end of these actions. */
  | { kind: 'unfinished'; actions: readonly string[] }

/** Triggers that count as the workflow's last run (D45). */
const BY_API: ReadonlySet<Trigger> = new Set(['api', 'shortcut'])

export type RunRequest = {
  sheet: SheetRecord
  /** The actions to run, in order; not empty. */
  actions: string[]
  rows: RowChoice
  trigger: Trigger
  /** How often rows were sent on from sheet to sheet until this run. */
  hops?: number
  /** What it may cost. */
  cap?: Cap
  /** Who spends, where that is not whoever starts it: rows that are sent on. */
  member?: string | null
}

const keyed = sql.raw(KEYED)
/** Everything here looks up by key; a plan that reads tables whole, made while they were small, would never end. */
const keyedPlans = sql`set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`
/** The rows that `only` leaves of a sheet with these actions (D78). */
export function chooseOnly(only: OnlyRows | null | undefined, actions: readonly string[]): RowChoice {
  if (only === null || only === undefined) return { kind: 'all' }
  if (only === 'unfinished') return { kind: 'unfinished', actions }
  const failed: StatusFilter = { action: 'any', is: ['failed', 'error', 'out_of_credits'] }
  return { kind: 'matching', selection: { filters: [], statusFilters: [failed], createdAt: undefined } }
}

export type StartedRun = { runId: string; rowsQueued: number }

/**
 * Queues a run of rows that are there: its record, a flight for each row that has none, the removal of the cells that will run
 * again, and jobs, one for each of the first rows and for each group of later ones. All of it or nothing: call it in a
 * transaction. Rows already in the air join the run that has them (D21).
 */
export async function startRun(db: Db, actor: Actor, request: RunRequest): Promise<StartedRun> {
  const { org_id, sheet_id, workflow_id } = request.sheet
  const counts = BY_API.has(request.trigger)
  // Whoever replaces flights of stopped runs owns the rows lock: nobody else launches the same rows in between.
  const { rows } = await sql<{ stopped: boolean; workflows: number }>`${keyed} with workflow as materialized (
      select from workflows where ${counts}::boolean and org_id = ${org_id} and workflow_id = ${workflow_id}
        and deleted_at is null for no key update
    ), late as materialized (
      select locked.workflows, exists (select from runs r join flights f on f.org_id = r.org_id and f.run_id = r.run_id
        where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.state = 'stopped') as stopped
      from (select count(*)::int as workflows from workflow) locked)
    select workflows, stopped, ${keyedPlans},
      case when stopped then ${exclusiveRowsLock(sheet_id)} else ${sharedRowsLock(sheet_id)} end from late`.execute(
    db,
  )
  if (counts && rows[0]?.workflows !== 1) throw notFound('Workflow')
  if (rows[0]?.stopped === true) await dropStopped(db, request)
  return launchRows(db, actor, request)
}

/** The locks under which rows that arrive are launched, of all their sheets. Take them before the rows are added. */
export async function lockArrivals(db: Db, requests: readonly Lockable[]): Promise<void> {
  await lockWorkflows(db, requests)
  const ids = [...new Set(requests.map(({ sheet }) => sheet.sheet_id))].toSorted()
  await sql`${keyed} select ${keyedPlans}, ${sharedRowsLock(sql`id`)} from unnest(${ids}::text[]) as t (id)`.execute(
    db,
  )
}

type Lockable = Pick<RunRequest, 'sheet' | 'trigger'>

/** A run that counts as the workflow's last one writes so at its end; the lock for that comes before those of the rows. */
async function lockWorkflows(db: Db, requests: readonly Lockable[]): Promise<void> {
  const counting = requests.filter(({ trigger }) => BY_API.has(trigger))
  const orgOf = new Map(counting.map(({ sheet }) => [sheet.workflow_id, sheet.org_id]))
  for (const [id, orgId] of [...orgOf].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await lockWorkflow(db, orgId, id)
}

/** Launches and queues rows of which none is in the air under a stopped run. Its locks are taken: startRun, lockArrivals. */
export async function launchRows(db: Db, actor: Actor, request: RunRequest): Promise<StartedRun> {
  const { org_id } = request.sheet
  const run_id = newId()
  // Jobs of rows that were stopped or deleted stay in the queue. They must not pass for those of a later run.
  const ticket = randomInt(2 ** 30)
  const cap = await openCap(db, org_id, request.cap)
  const { chosen, launched, base, weight } = await launch(db, actor, request, { run_id, ticket, cap })
  const flights = { org_id, run_id, ticket, count: launched, base, weight }
  await addRowJobs(db, { ...flights, actions: request.actions, mayHandOver: true })
  return { runId: run_id, rowsQueued: chosen }
}

/**
 * The run's record and its flights. A run that finds nothing to launch is finished at once. The rows lock keeps a sheet from
 * being deleted, so a counter that is there stays, and a run is never recorded for a sheet that is gone.
 */
async function launch(
  db: Db,
  actor: Actor,
  request: RunRequest,
  { run_id, ticket, cap }: { run_id: string; ticket: number; cap: string | null },
): Promise<{ chosen: number; launched: number } & VirtualTime> {
  const { sheet, actions, trigger, rows: choice, hops = 0, member = null } = request
  const { org_id, sheet_id, workflow_id } = sheet
  const { rows } = await sql<{ chosen: number; launched: number } & VirtualTime>`${keyed}
    with chosen as materialized (${chosenRows(request)}),
    launched as (
      insert into flights (org_id, sheet_id, row_id, run_id, status, ticket)
      select ${org_id}, ${sheet_id}, row_id, ${run_id}, 'queued', ${ticket}::int from chosen order by row_id
      on conflict (org_id, row_id) do nothing returning row_id
    ), counted as (
      select (select count(*) from chosen) as chosen, (select count(*) from launched) as launched
      from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), recorded as (
      insert into runs (org_id, run_id, sheet_id, trigger, selector, revision, actions, cache_enabled, cache_since,
        continue_on_fail, hops, cap_purse_id, member, created_by, key_id, price_version, rows_queued, state, finished_at)
      select ${org_id}, ${run_id}, ${sheet_id}, ${trigger}, ${JSON.stringify(choice)}::jsonb, ${sheet.revision}::int,
        ${actions}::text[], ${sheet.cache_enabled}::boolean, ${sheet.cache_since}::date, ${sheet.continue_on_fail}::boolean,
        ${hops}::int, ${cap}::uuid, ${member}, ${actor.email}, ${actor.keyId}::uuid, ${LATEST_PRICES}, launched, case when launched > 0 then 'running' else 'finished' end,
        case when launched = 0 then now() end
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
    select chosen, launched, time.base, time.weight, ${announcing(sheet_id)} from counted, (${virtualNow(org_id)}) time`.execute(
    db,
  )
  if (rows[0] === undefined) throw notFound('Sheet')
  return rows[0]
}

/** Queues flights that are there and keep their cells: those of a run that is resumed. */
export async function queueFlights(
  db: Db,
  flights: { org_id: string; run_id: string; ticket: number },
  count: number,
): Promise<void> {
  const { rows } = await sql<VirtualTime>`${virtualNow(flights.org_id)}`.execute(db)
  const { base, weight } = rows[0] ?? { base: 1, weight: 1 }
  await addRowJobs(db, { ...flights, count, base, weight, actions: [], mayHandOver: false })
}

/**
 * A row whose stopped run still has a cell running is run anew: the late result will have no effect (D23). Every flight of the
 * chosen rows is locked, those that stay too: launching meets them again, in the order of rows.
 */
async function dropStopped(db: Db, request: RunRequest): Promise<void> {
  const { org_id, sheet_id: sheetId } = request.sheet
  const { rows } = await sql<{ row_id: string; stopped: boolean }>`
    select f.row_id, r.state = 'stopped' as stopped
    from flights f join runs r on r.org_id = f.org_id and r.run_id = f.run_id
    where f.org_id = ${org_id} and f.row_id = any(array(select row_id from (${chosenRows(request)}) chosen))
    order by f.row_id for update of f`.execute(db)
  const late = rows.filter(({ stopped }) => stopped).map(({ row_id }) => row_id)
  await dropFlights(db, org_id, { sheetId, rowIds: late })
}

/**
 * Fair order: a job's priority is a virtual time. A run starts at that of the jobs waiting now, and its rows are spread behind
 * each other, the wider the more runs its organisation has under way. So a short run is soon done and two long ones share.
 * Jobs that are no part of a run's order, parked rows and chores, have priority 0.
 */
function virtualNow(orgId: string) {
  return sql`select
    coalesce((${sql.raw(NEXT_GROUP_PRIORITY)}), 1) as base,
    1 + (select count(*) from runs where org_id = ${orgId} and state = 'running')::int as weight`
}

/** Selects the ids and numbers of the rows of a choice. */
export function chosenRows({ sheet, rows }: Pick<RunRequest, 'sheet' | 'rows'>) {
  const { org_id, sheet_id } = sheet
  const living = sql`select r.row_id, r.seq from rows r
    where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= (
      select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})`
  switch (rows.kind) {
    case 'all':
      return living
    case 'ids':
      return sql`${living} and r.row_id = any(${rows.ids}::uuid[])`
    case 'first':
      return sql`${living} order by r.seq limit ${rows.count}`
    case 'matching':
      return sql`${living} and ${sql.join(conditionsOf(rows.selection) satisfies Condition[], sql` and `)}`
    case 'unfinished':
      // Each by its key: never the other way round, all rows of the sheet against a list.
      return sql`select r.row_id, r.seq from (${unfinishedRows(sheet, rows.actions)}) one,
        lateral (${living} and r.row_id = one.row_id offset 0) r`
  }
}

/** Queued cells are removed, running ones may finish; their rows end there (D23). Answers how many were removed. */
export async function stopRuns(db: Db, actor: Actor, sheet: SheetRecord): Promise<number> {
  const { org_id, sheet_id } = sheet
  await sql`update runs set state = 'stopped', finished_at = now()
    where org_id = ${org_id} and run_id in (select run_id from runs
      where org_id = ${org_id} and sheet_id = ${sheet_id} and state = 'running' order by run_id for no key update)
    returning ${announcing(sql`sheet_id`)}`.execute(db)
  const removed = await dropFlights(db, org_id, { sheetIds: [sheet_id], queuedOnly: true })
  await recordAudit(db, org_id, actor, { action: 'run.stopped', target: sheet_id, details: { removed } })
  return removed
}
