import { sql } from 'kysely'
import { announcing } from '../database/connection/changes.ts'
import type { Db } from '../database/connection/db.ts'
import { exclusiveRowsLock, sharedRowsLock } from '../database/connection/locks.ts'
import { KEYED } from '../database/connection/statement-names.ts'
import { notFound } from '../lib/errors.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { FIRST_BY_ITSELF, keyedPlans } from './launch-pieces.ts'
import { launchRows, type StartedRun } from './launch.ts'
import { chosenRows } from './row-choice.ts'
import { BY_API, type RunRequest } from './run-request.ts'
import { dropFlights, dropQueued, isBeforeLast } from './store/flights.ts'

const keyed = sql.raw(KEYED)

/**
 * Enqueues a run of existing rows: writes its record, a flight for each row that has none, and jobs (one for each of
 * the first rows, one for each group of later rows), and removes the cells that will run again. Call it in a
 * transaction: all of it happens or nothing. Rows already in flight join the run that has them (D21). If all rows are
 * to run and there are more than `first`, the others are enqueued later.
 */
export async function startRun(
  db: Db,
  actor: Actor,
  request: RunRequest,
  first = FIRST_BY_ITSELF,
): Promise<StartedRun> {
  const { org_id, sheet_id, workflow_id } = request.sheet
  const counts = BY_API.has(request.trigger)
  const isAll = request.rows.kind === 'all'
  // A transaction that replaces flights of stopped runs holds the rows lock exclusively, as does a run that does not
  // enqueue all its rows at once: no other run enqueues the same rows in between, or without knowing of that run.
  const { rows } = await sql<{
    stopped: boolean
    large: boolean
    workflows: number
  }>`${keyed} with workflow as materialized (
      select from workflows where ${counts}::boolean and org_id = ${org_id} and workflow_id = ${workflow_id}
        and deleted_at is null for no key update
    ), late as materialized (
      select locked.workflows, exists (select from runs r join flights f on f.org_id = r.org_id and f.run_id = r.run_id
        where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.state = 'stopped') as stopped,
        ${isAll}::boolean and coalesce((select next_seq - first_seq - deleted > ${first} from sheet_counters
          where org_id = ${org_id} and sheet_id = ${sheet_id}), false) as large
      from (select count(*)::int as workflows from workflow) locked)
    select workflows, stopped, large, ${keyedPlans},
      case when stopped or large then ${exclusiveRowsLock(sheet_id)} else ${sharedRowsLock(sheet_id)} end from late`.execute(
    db,
  )
  if (counts && rows[0]?.workflows !== 1) throw notFound('Workflow')
  if (rows[0]?.stopped === true) await dropStopped(db, request)
  return launchRows(db, actor, request, { joins: true, first: rows[0]?.large === true ? first : undefined })
}

/**
 * Drops the flights of stopped runs that still have a cell running. Their rows run again, and the late result will have
 * no effect (D23). Every flight of the chosen rows is locked, also those that stay: enqueueing meets them again, in the
 * order of rows.
 */
async function dropStopped(db: Db, request: RunRequest): Promise<void> {
  const { org_id, sheet_id: sheetId } = request.sheet
  // Of all rows only a few are in flight, even in a sheet with millions.
  const chosen =
    request.rows.kind === 'all'
      ? sql`f.run_id = any(array(select run_id from runs
          where org_id = ${org_id} and sheet_id = ${sheetId} and state in ('running', 'stopped')))`
      : sql`f.row_id = any(array(select row_id from (${chosenRows(request.sheet, request.rows)}) chosen))`
  const { rows } = await sql<{ row_id: string; stopped: boolean }>`
    select f.row_id, r.state = 'stopped' as stopped
    from flights f join runs r on r.org_id = f.org_id and r.run_id = f.run_id
    where f.org_id = ${org_id} and ${chosen}
    order by f.row_id for update of f`.execute(db)
  const late = rows.filter(({ stopped }) => stopped).map(({ row_id }) => row_id)
  await dropFlights(db, org_id, { sheetId, rowIds: late, stay: true })
}

/**
 * Stops all runs of a sheet. Queued cells are removed, running ones may finish; their rows end there (D23). Returns how
 * many rows end before their last cell (D92). Runs that began while this call waited for another one are stopped as
 * well.
 */
export async function stopRuns(db: Db, actor: Actor, sheet: SheetRecord): Promise<number> {
  const { org_id, sheet_id } = sheet
  let removed = 0
  const stopped: string[] = []
  for (;;) {
    const { rows } = await sql<{ run_id: string; unlaunched: number }>`
      with chosen as materialized (
        select run_id, ${UNLAUNCHED} as unlaunched from runs r
        where org_id = ${org_id} and sheet_id = ${sheet_id} and state = 'running' order by run_id for no key update
      )
      update runs r set state = 'stopped', finished_at = now(), unlaunched = null from chosen
      where r.org_id = ${org_id} and r.run_id = chosen.run_id
      returning r.run_id, chosen.unlaunched, ${announcing(sql`r.sheet_id`)}`.execute(db)
    if (rows.length === 0) break
    stopped.push(...rows.map(({ run_id }) => run_id))
    removed += rows.reduce((sum, run) => sum + run.unlaunched, 0)
  }
  removed += await dropQueued(db, org_id, sheet_id)
  removed += await countEnding(db, org_id, stopped)
  await recordAudit(db, org_id, actor, { action: 'run.stopped', target: sheet_id, details: { removed } })
  return removed
}

/** Counts the rows of these runs whose running cell is not their last one. */
async function countEnding(db: Db, orgId: string, runIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`${keyed}
    select count(*)::int as count from flights f join runs run on run.org_id = f.org_id and run.run_id = f.run_id
    where run.org_id = ${orgId} and run.run_id = any(${runIds}::uuid[]) and ${isBeforeLast}`.execute(db)
  return rows[0]?.count ?? 0
}

/** The number of rows of the run `r` that were not enqueued, without those deleted since. */
const UNLAUNCHED =
  sql.raw(`case when r.unlaunched is null then 0 else least(r.rows_queued - (r.unlaunched->>'launched')::bigint, (
  select coalesce(sum(upper(s) - lower(s)), 0)::bigint
  from sheet_counters c, unnest((r.unlaunched->>'rows')::int8multirange * int8multirange(int8range(c.first_seq, null))) as s
  where c.org_id = r.org_id and c.sheet_id = r.sheet_id)) end`)
