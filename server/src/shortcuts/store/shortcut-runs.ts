import { type RawBuilder, sql } from 'kysely'
import type { CellStatus } from '#contract/rows.ts'
import type { EndStatus } from '#contract/shortcuts.ts'
import type { Db } from '../../database/connection/db.ts'
import type { FrozenInput, FrozenOutput } from '../../database/connection/json-columns.ts'
import { NO_ID, newId } from '../../lib/ids.ts'
import { toStorableJson } from '../../lib/json/storable.ts'

/** A run with its version of the shortcut. `status` is null until the end of the run is recorded. */
export type ShortcutRunRecord = {
  org_id: string
  shortcut_run_id: string
  shortcut_id: string
  workflow_id: string
  batch_id: string | null
  run_id: string
  row_id: string
  user_email: string
  /** The input as JSON text. */
  input_data: string
  status: EndStatus | null
  /** The output as JSON text. */
  output_data: string | null
  error_message: string | null
  created_at: Date
  completed_at: Date | null
  revision: number
  continue_on_fail: boolean
  inputs: FrozenInput[]
  outputs: FrozenOutput[]
}

async function selectRuns(
  db: Db,
  condition: RawBuilder<unknown>,
  page: RawBuilder<unknown>,
): Promise<ShortcutRunRecord[]> {
  const { rows } = await sql<ShortcutRunRecord>`
    select r.org_id, r.shortcut_run_id, r.shortcut_id, s.workflow_id, r.batch_id, r.run_id, r.row_id, r.user_email,
      r.input_data::text as input_data, r.status, r.output_data::text as output_data, r.error_message, r.created_at,
      r.completed_at, v.revision, v.continue_on_fail, v.inputs, v.outputs
    from shortcut_runs r
    join shortcuts s on s.org_id = r.org_id and s.shortcut_id = r.shortcut_id
    join shortcut_versions v on v.org_id = r.org_id and v.shortcut_id = coalesce(s.parent_id, s.shortcut_id)
      and v.version = r.version
    where ${condition} ${page}`.execute(db)
  return rows
}

export type RunFilter = { batchId?: string | undefined; mode?: 'single' | 'batch' | undefined }

/** Lists runs, newest first. */
export async function listShortcutRuns(
  db: Db,
  { orgId, shortcutId }: { orgId: string; shortcutId: string },
  { batchId, mode }: RunFilter,
  page: { limit: number; offset: number },
): Promise<ShortcutRunRecord[]> {
  const conditions = [
    sql`r.org_id = ${orgId} and r.shortcut_id = ${shortcutId}`,
    ...(batchId === undefined ? [] : [sql`r.batch_id = ${batchId}`]),
    ...(mode === undefined
      ? []
      : [mode === 'single' ? sql`r.batch_id is null` : sql`r.batch_id is not null`]),
  ]
  return selectRuns(
    db,
    sql.join(conditions, sql` and `),
    sql`order by r.shortcut_run_id desc limit ${sql.lit(page.limit)} offset ${sql.lit(page.offset)}`,
  )
}

export async function countShortcutRuns(db: Db, orgId: string, shortcutId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from shortcut_runs
    where org_id = ${orgId} and shortcut_id = ${shortcutId}`.execute(db)
  return rows[0]?.count ?? 0
}

export async function findShortcutRun(
  db: Db,
  orgId: string,
  id: string,
): Promise<ShortcutRunRecord | undefined> {
  const [found] = await selectRuns(db, sql`r.org_id = ${orgId} and r.shortcut_run_id = ${id}`, sql``)
  return found
}

/** Lists runs in the order in which they were queued. */
export async function listRunsByIds(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ShortcutRunRecord[]> {
  return selectRuns(
    db,
    sql`r.org_id = ${orgId} and r.shortcut_run_id = any(${ids}::uuid[])`,
    sql`order by r.shortcut_run_id`,
  )
}

/**
 * Lists runs without a recorded end although their row has finished, in pages: of all runs, or of one run of
 * the engine.
 */
export async function listFinishedRuns(
  db: Db,
  limit: number,
  after: ShortcutRunRecord | undefined,
  run?: { orgId: string; runId: string },
): Promise<ShortcutRunRecord[]> {
  const chosen = run === undefined ? sql`true` : sql`r.org_id = ${run.orgId} and r.run_id = ${run.runId}`
  const { org_id = NO_ID, run_id = NO_ID, shortcut_run_id = NO_ID } = after ?? {}
  return selectRuns(
    db,
    sql`r.status is null and ${chosen}
      and (r.org_id, r.run_id, r.shortcut_run_id) > (${org_id}::uuid, ${run_id}::uuid, ${shortcut_run_id}::uuid)
      and not exists (
        select from flights f where f.org_id = r.org_id and f.row_id = r.row_id and f.run_id = r.run_id)`,
    sql`order by r.org_id, r.run_id, r.shortcut_run_id limit ${sql.lit(limit)}`,
  )
}

/** Counts the runs without a recorded end in one run of the engine. */
export async function countOpenRuns(db: Db, orgId: string, runId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from shortcut_runs
    where org_id = ${orgId} and run_id = ${runId} and status is null`.execute(db)
  return rows[0]?.count ?? 0
}

export type NewShortcutRuns = {
  org_id: string
  shortcut_id: string
  version: number
  batch_id: string | null
  run_id: string
  user_email: string
  rows: { row_id: string; input: unknown }[]
}
export type MadeRun = { shortcut_run_id: string; row_id: string; created_at: Date }

/** Inserts any number of runs in one statement. Their ids have the order of the rows. */
export async function insertShortcutRuns(db: Db, made: NewShortcutRuns): Promise<MadeRun[]> {
  const records = toStorableJson(made.rows.map(({ row_id, input }) => ({ i: newId(), r: row_id, d: input })))
  const { rows } = await sql<MadeRun>`
    insert into shortcut_runs (org_id, shortcut_run_id, shortcut_id, version, batch_id, run_id, row_id, user_email, input_data)
    select ${made.org_id}, t.i, ${made.shortcut_id}, ${made.version}, ${made.batch_id}::uuid, ${made.run_id}, t.r,
      ${made.user_email}, t.d
    from json_to_recordset(${records}::json) as t (i uuid, r uuid, d json)
    returning shortcut_run_id, row_id, created_at`.execute(db)
  return rows.toSorted((a, b) => (a.shortcut_run_id < b.shortcut_run_id ? -1 : 1))
}

/** A trace of a row in the engine: its flight, or the result of a cell. */
export type Trace = {
  row_id: string
  run_id: string
  /** The id of the action of a result; empty for a flight. */
  action: string
  status: CellStatus
  /** Says whether no worker has claimed the flight yet. */
  untouched: boolean
  /** The outputs as JSON text. */
  outputs: string | null
  error: string | null
  completed_at: Date | null
}

/**
 * Lists the traces of rows in one statement, so that a cell is never seen without the end of the flight that
 * wrote it.
 */
export async function listTraces(db: Db, orgId: string, rowIds: readonly string[]): Promise<Trace[]> {
  const { rows } = await sql<Trace>`
    select row_id, run_id, '' as action, status, attempt = 0 as untouched, null as outputs, null as error,
      null::timestamptz as completed_at
    from flights where org_id = ${orgId} and row_id = any(${rowIds}::uuid[])
    union all
    select row_id, run_id, action, status, false, outputs::text, error, completed_at
    from cells where org_id = ${orgId} and row_id = any(${rowIds}::uuid[])`.execute(db)
  return rows
}

/** Returns, for runs whose row has finished, the state of the engine's run and the rows that still exist. */
export async function findRunStates(
  db: Db,
  orgId: string,
  runs: readonly { run_id: string; row_id: string }[],
): Promise<{ states: Map<string, string>; existingRows: Set<string> }> {
  const { rows: states } = await sql<{ run_id: string; state: string }>`select run_id, state from runs
    where org_id = ${orgId} and run_id = any(${runs.map((run) => run.run_id)}::uuid[])`.execute(db)
  const { rows: existing } = await sql<{ row_id: string }>`
    select r.row_id from rows r join sheet_counters c on c.org_id = r.org_id and c.sheet_id = r.sheet_id
    where r.org_id = ${orgId} and r.row_id = any(${runs.map((run) => run.row_id)}::uuid[])
      and r.seq >= c.first_seq`.execute(db)
  return {
    states: new Map(states.map(({ run_id, state }) => [run_id, state])),
    existingRows: new Set(existing.map((row) => row.row_id)),
  }
}

export type ShortcutEnd = {
  id: string
  status: EndStatus
  output: unknown
  error: string | null
  at: Date
}

/** Records the ends of runs. The first recorded end is final. */
export async function recordRunEnds(db: Db, orgId: string, ends: readonly ShortcutEnd[]): Promise<void> {
  if (ends.length === 0) return
  // The rows are locked in a fixed order, so that two calls for the same runs cannot deadlock.
  await sql`
    with open as (
      select shortcut_run_id from shortcut_runs
      where org_id = ${orgId} and shortcut_run_id = any(${ends.map((end) => end.id)}::uuid[]) and status is null
      order by shortcut_run_id for update
    )
    update shortcut_runs r set status = e.status, output_data = e.output, error_message = e.error, completed_at = e.at
    from open, json_to_recordset(${toStorableJson(ends)}::json)
      as e (id uuid, status text, output json, error text, at timestamptz)
    where r.org_id = ${orgId} and r.shortcut_run_id = open.shortcut_run_id and e.id = open.shortcut_run_id`.execute(
    db,
  )
}
