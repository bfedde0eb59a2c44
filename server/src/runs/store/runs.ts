import { sql } from 'kysely'
import type { z } from 'zod'
import type { CellStatus } from '#contract/rows.ts'
import type { StoppedBy } from '#contract/runs.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { postCharges } from '../../money/store/limits/posting.ts'

export type RunRecord = {
  run_id: string
  trigger: string
  state: 'running' | 'finished' | 'stopped'
  revision: number
  actions: string[]
  rows_queued: number
  rows_done: number
  cells_done: number
  cells_failed: number
  credits_millis: number
  price_version: number
  cap_millis: number | null
  held_millis: number
  key_id: string | null
  rows_out_of_credits: number
  rows_failed: number
  cells_skipped: number
  cells_kept: number
  stopped_by: { kind: 'max_credits' | 'budget' | 'balance'; budget_id?: string } | null
  created_by: string
  started_in: 'dashboard' | 'api' | null
  created_at: Date
  finished_at: Date | null
}

/** Lists the latest runs of a sheet, newest first, with their progress as tallied; or one of them. */
export async function listRuns(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  { limit, runId = null }: { limit: number; runId?: string | null },
): Promise<RunRecord[]> {
  const chosen = runId === null ? sql`` : sql`and r.run_id = ${runId}::uuid`
  const { rows } = await sql<RunRecord>`
    select r.run_id, r.trigger, r.state, r.revision, r.actions, r.rows_queued, r.price_version, r.key_id, r.created_by, r.created_at, r.finished_at,
      coalesce(t.rows_done, 0)::bigint as rows_done, coalesce(t.cells_done, 0)::bigint as cells_done,
      coalesce(t.cells_failed, 0)::bigint as cells_failed, coalesce(t.credits_millis, 0)::bigint as credits_millis,
      coalesce(t.rows_out_of_credits, 0)::bigint as rows_out_of_credits, coalesce(t.rows_failed, 0)::bigint as rows_failed,
      coalesce(t.cells_skipped, 0)::bigint as cells_skipped, coalesce(t.cells_kept, 0)::bigint as cells_kept,
      (select case when k.is_session then 'dashboard' else 'api' end from api_keys k where k.org_id = r.org_id and k.key_id = r.key_id) as started_in,
      case when t.rows_out_of_credits > 0 then t.stopped_by end as stopped_by,
      (select p.limit_millis from purses p where p.org_id = r.org_id and p.purse_id = r.cap_purse_id) as cap_millis,
      (select coalesce(sum(h.held_millis), 0) from run_holds h where h.org_id = r.org_id and h.run_id = r.run_id)::bigint as held_millis
    from runs r left join lateral (
      select sum(rows_done) as rows_done, sum(cells_done) as cells_done, sum(cells_failed) as cells_failed,
        sum(credits_millis) as credits_millis, sum(rows_out_of_credits) as rows_out_of_credits,
        sum(rows_failed) as rows_failed, sum(cells_skipped) as cells_skipped, sum(cells_kept) as cells_kept,
        (array_agg(stopped_by) filter (where stopped_by is not null))[1] as stopped_by
      from run_tallies t where t.org_id = r.org_id and t.run_id = r.run_id) t on true
    where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} ${chosen}
    order by r.run_id desc limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** The notes stored with a cell about its costs, if there is anything to store. */
export type StoredBilling = {
  cached?: { run_id: string | null; at: string; millis: number }
  stopped_by?: z.infer<typeof StoppedBy>
}

export type CellWaiting = { kind: z.infer<typeof StoppedBy>['kind']; needed: number }

export type CellRecord = {
  status: CellStatus
  run_id: string
  revision: number
  attempts: number
  credits_millis: number
  cached: boolean
  provenance: unknown[] | null
  billing: StoredBilling | null
  kept: string | null
  price_version: number
  entry_id: string | null
  started_at: Date
  completed_at: Date
}

/** Returns what the queued cell of a row waits for: a limit, and the credits that it needs. */
export async function findWaiting(db: Db, orgId: string, rowId: string): Promise<CellWaiting | null> {
  const { rows } = await sql<{ waiting: CellWaiting | null }>`
    select waiting from flights where org_id = ${orgId} and row_id = ${rowId} and status = 'queued'`.execute(
    db,
  )
  return rows[0]?.waiting ?? null
}

export async function findCell(
  db: Db,
  orgId: string,
  rowId: string,
  action: string,
): Promise<CellRecord | undefined> {
  return (await findCells(db, orgId, rowId, [action])).get(action)
}

/** Returns the results of a row by action: of these actions only. */
export async function findCells(
  db: Db,
  orgId: string,
  rowId: string,
  actions: readonly string[],
): Promise<ReadonlyMap<string, CellRecord>> {
  await postCharges(db, orgId)
  const { rows } = await sql<CellRecord & { action: string }>`
    select c.action, c.status, coalesce((c.kept->>'run_id')::uuid, c.run_id) as run_id, c.kept->>'because' as kept, c.revision, c.attempts, c.credits_millis, c.cached, c.provenance, c.billing, c.started_at,
      c.completed_at, coalesce(r.price_version, 1) as price_version, case when c.credits_millis > 0 then coalesce((
        select e.entry_id from block_entries e where e.org_id = c.org_id and e.run_id = coalesce((c.kept->>'run_id')::uuid, c.run_id) and e.at = c.completed_at
          and e.row_id = c.row_id and e.action = c.action limit 1), (
        select e.entry_id from credit_entries e where e.org_id = c.org_id and e.row_id = c.row_id
          and e.run_id = coalesce((c.kept->>'run_id')::uuid, c.run_id) and e.action = c.action and e.type = 'charge' limit 1)) end as entry_id
    from cells c left join runs r on r.org_id = c.org_id and r.run_id = coalesce((c.kept->>'run_id')::uuid, c.run_id)
    where c.org_id = ${orgId} and c.row_id = ${rowId} and c.action = any(${actions}::text[])`.execute(db)
  return new Map(rows.map(({ action, ...cell }) => [action, cell]))
}
