import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { newId } from '../lib/ids.ts'
import { type Actor, recordAudit } from '../store/audit.ts'
import type { Db } from '../store/db.ts'
import { dropFlights } from '../store/flights.ts'
import { type Condition, conditionsOf, type Selection } from '../store/row-filters.ts'
import { shareRows } from '../store/row-locks.ts'
import type { SheetRecord } from '../store/sheets.ts'

/** What started a run. Those of the API count as the workflow's last run (D45). */
export type Trigger = 'api' | 'auto_run' | 'schedule' | 'webhook' | 'send_to_sheet'

/** Which rows to run: all, some by id, the first few, or those that meet a selection. */
export type RowChoice =
  | { kind: 'all' }
  | { kind: 'ids'; ids: readonly string[] }
  | { kind: 'first'; count: number }
  | { kind: 'matching'; selection: Selection }

export type RunRequest = {
  sheet: SheetRecord
  /** The actions to run, in order; not empty. */
  actions: string[]
  rows: RowChoice
  trigger: Trigger
  /** How often rows were sent on from sheet to sheet until this run. */
  hops?: number
}

/** Jobs are added in chunks of this size, in the one transaction of the run. */
const CHUNK = 10_000
/** The first rows of every run are taken by workers that do nothing else, so that a short run is over at once. */
export const EXPRESS_ROWS = 50
/** Rows of a run that share one step of virtual time. */
const ROWS_PER_STEP = 64

/**
 * Queues a run: its record, a flight for each row that has none, the removal of the cells that will run again, and one job
 * per row. All of it or nothing: call it in a transaction. Rows already in the air join the run that has them (D21).
 */
export async function startRun(
  db: Db,
  actor: Actor,
  request: RunRequest,
): Promise<{ runId: string; rowsQueued: number }> {
  const { sheet, actions, trigger } = request
  const { org_id, sheet_id } = sheet
  const run_id = newId()
  // Jobs of rows that were stopped or deleted stay in the queue. They must not pass for those of a later run.
  const ticket = randomInt(2 ** 30)
  // Everything below looks up by key; a plan that reads tables whole, made while they were small, would never end.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`.execute(db)
  await shareRows(db, sheet_id)
  await db
    .insertInto('runs')
    .values({
      org_id,
      run_id,
      sheet_id,
      trigger,
      selector: JSON.stringify(request.rows),
      revision: sheet.revision,
      actions,
      cache_enabled: sheet.cache_enabled,
      cache_since: sheet.cache_since,
      continue_on_fail: sheet.continue_on_fail,
      hops: request.hops ?? 0,
      created_by: actor.email,
    })
    .execute()
  await dropStopped(db, request)
  const { rows } = await sql<{ chosen: number; launched: number }>`
    with chosen as materialized (${chosenRows(request)}),
    launched as (
      insert into flights (org_id, sheet_id, row_id, run_id, action, status, ticket)
      select ${org_id}, ${sheet_id}, row_id, ${run_id}, ${actions[0]}, 'queued', ${ticket}::int from chosen order by row_id
      on conflict (org_id, row_id) do nothing returning row_id
    )
    select (select count(*) from chosen) as chosen, (select count(*) from launched) as launched`.execute(db)
  const { chosen = 0, launched = 0 } = rows[0] ?? {}
  // A statement of its own, which also sees the cell that a flight before this one landed with a moment ago.
  await sql`delete from cells c using flights f
    where f.org_id = ${org_id} and f.run_id = ${run_id} and c.org_id = ${org_id} and c.row_id = f.row_id
      and c.action = any(${actions}::text[])`.execute(db)
  await finishQueueing(db, { org_id, run_id, ticket }, launched)
  if (chosen > 0 && trigger === 'api') {
    await sql`update workflows set last_run_at = now()
      where org_id = ${org_id} and workflow_id = ${sheet.workflow_id}`.execute(db)
  }
  await recordAudit(db, org_id, actor, {
    action: 'run.started',
    target: sheet_id,
    details: { run_id, rows: chosen },
  })
  return { runId: run_id, rowsQueued: chosen }
}

/** A row whose stopped run still has a cell running is run anew: the late result will have no effect (D23). */
async function dropStopped(db: Db, request: RunRequest): Promise<void> {
  const { org_id, sheet_id } = request.sheet
  const { rows: late } = await sql<{ row_id: string }>`
    select f.row_id from runs r join flights f on f.org_id = r.org_id and f.run_id = r.run_id
    where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.state = 'stopped'`.execute(db)
  if (late.length === 0) return
  const { rows } = await sql<{ row_id: string }>`
    select row_id from (${chosenRows(request)}) chosen
    where row_id = any(${late.map((row) => row.row_id)}::uuid[])`.execute(db)
  await dropFlights(db, org_id, { rowIds: rows.map((row) => row.row_id) })
}

async function finishQueueing(
  db: Db,
  run: { org_id: string; run_id: string; ticket: number },
  launched: number,
): Promise<void> {
  const { org_id, run_id, ticket } = run
  if (launched === 0) {
    await sql`update runs set state = 'finished', finished_at = now()
      where org_id = ${org_id} and run_id = ${run_id}`.execute(db)
    return
  }
  await sql`update runs set rows_queued = ${launched} where org_id = ${org_id} and run_id = ${run_id}`.execute(
    db,
  )
  const start = await virtualNow(db, org_id)
  let after = '00000000-0000-0000-0000-000000000000'
  for (let done = 0; done < launched; done += CHUNK) {
    const { rows } = await sql<{ last: string }>`
      with chunk as (
        select row_id, ${done} + row_number() over (order by row_id) - 1 as n from flights
        where org_id = ${org_id} and run_id = ${run_id} and row_id > ${after}
        order by row_id limit ${CHUNK}
      ), added as (
        select count(*) from graphile_worker.add_jobs((
          select array_agg((
            case when n < ${EXPRESS_ROWS} then 'row_express' else 'row' end,
            json_build_object('o', ${org_id}::uuid, 'r', row_id, 't', ${ticket}::int), null, null, 25, null,
            least(32000, ${start.base} + n * ${start.weight} / ${ROWS_PER_STEP}), null)::graphile_worker.job_spec order by n)
          from chunk))
      )
      select (select row_id from chunk order by row_id desc limit 1) as last from added`.execute(db)
    after = rows[0]?.last ?? after
  }
}

/**
 * Fair order: a job's priority is a virtual time. A run starts at that of the jobs waiting now, and its rows are spread behind
 * each other, the wider the more runs its organisation has under way. So a short run is soon done and two long ones share.
 */
async function virtualNow(db: Db, orgId: string): Promise<{ base: number; weight: number }> {
  const { rows } = await sql<{ base: number; weight: number }>`
    select coalesce((select priority from graphile_worker.jobs where locked_at is null order by priority limit 1), 0) as base,
      greatest(1, (select count(*) from runs where org_id = ${orgId} and state = 'running'))::int as weight`.execute(
    db,
  )
  return rows[0] ?? { base: 0, weight: 1 }
}

function chosenRows({ sheet, rows }: RunRequest) {
  const { org_id, sheet_id } = sheet
  const living = sql`select r.row_id from rows r
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
  }
}

/** Queued cells are removed, running ones may finish; their rows end there (D23). Answers how many were removed. */
export async function stopRuns(db: Db, actor: Actor, sheet: SheetRecord): Promise<number> {
  const { org_id, sheet_id } = sheet
  await sql`update runs set state = 'stopped', finished_at = now()
    where org_id = ${org_id} and sheet_id = ${sheet_id} and state = 'running'`.execute(db)
  const removed = await dropFlights(db, org_id, { sheetIds: [sheet_id], queuedOnly: true })
  await recordAudit(db, org_id, actor, { action: 'run.stopped', target: sheet_id, details: { removed } })
  return removed
}

/** Marks runs that have no row in the air any more as finished. Cheap: looks only at runs under way. */
export async function finishRuns(db: Db): Promise<void> {
  await sql`update runs r set state = 'finished', finished_at = now()
    where r.state = 'running' and r.rows_queued > 0
      and not exists (select from flights f where f.org_id = r.org_id and f.run_id = r.run_id)`.execute(db)
}
