import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { announcing } from '../database/connection/changes.ts'
import type { Db } from '../database/connection/db.ts'
import { sharedRowsLock } from '../database/connection/locks.ts'
import { AppError, notFound } from '../lib/errors.ts'
import { toMillis } from '../money/caps.ts'
import { lockLimits } from '../money/store/limits/limit-locks.ts'
import { changeCap, createCap } from '../money/store/limits/limits.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { queueFlights } from './launch.ts'
import { requireRoomInCap, resumableCells, RUN_SPENT } from './resumable-rows.ts'
import { moveToFormer } from './store/former-cells.ts'

type LockedRun = {
  /** Set if rows of the run are in flight, or will be. */
  is_flying: boolean
  state: string
  /** Set if other runs draw on the same cap: those of the same webhook, source or sync. */
  shares_cap: boolean
  actions: string[]
  cap_purse_id: string | null
  credits_millis: number
}

/** The lane of tallies that subtracts the rows which go on. */
const RESUMED_LANE = -1

/**
 * Resumes the rows of a run that ended for lack of credits, at the cell where they ended (M7), on the revision and
 * prices of the run. Complete cells are neither run nor billed again. Rows that were deleted or run since are left as
 * they are. Call it in a transaction.
 */
export async function resumeRun(
  trx: Db,
  actor: Actor,
  sheet: SheetRecord,
  { runId, maxCredits }: { runId: string; maxCredits?: number | null | undefined },
): Promise<number> {
  const { org_id, sheet_id } = sheet
  await sql`select ${sharedRowsLock(sheet_id)}`.execute(trx)
  const run = await lockRun(trx, sheet, runId)
  if (run.state === 'stopped' && run.is_flying) {
    throw new AppError(
      'Conflict',
      'The run was stopped and some of its cells are still running; resume it when they have finished',
    )
  }
  if (maxCredits !== undefined) await setCap(trx, { orgId: org_id, runId }, run, maxCredits)
  const ticket = randomInt(2 ** 30)
  const { rows } = await sql<{ queued: number }>`
    with chosen as materialized (
      ${resumableCells(sheet, runId, run.actions)}
    ), launched as (
      -- Not the first attempt: the worker that claims it looks for the results that the run has.
      insert into flights (org_id, sheet_id, row_id, run_id, status, ticket, attempt, skipped)
      select ${org_id}, ${sheet_id}, row_id, ${runId}, 'queued', ${ticket}::int, 1, skipped from chosen order by row_id
      on conflict (org_id, row_id) do nothing returning row_id, skipped
    ), reopened as materialized (
      -- Those of each row from the one at which it ended, looked up by its key: joined to lists of so many, each would be gone through
      -- for each.
      select c.row_id, c.action from launched l, lateral (
        select d.row_id, d.action, array_position(${run.actions}::text[], d.action) as place,
          count(*) filter (where d.run_id = ${runId}) over () as ended
        from cells d where d.org_id = ${org_id} and d.row_id = l.row_id offset 0
      ) c where c.place >= l.skipped + c.ended
    ), cleared as (
      delete from cells c using reopened o where c.org_id = ${org_id} and c.row_id = o.row_id and c.action = o.action
      returning c.*
    ), former as (${moveToFormer(runId)}
    ), counted as (
      select count(*) as queued from launched
    ), untallied as (
      insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis, rows_out_of_credits, cells_kept)
      select ${org_id}, ${runId}, ${RESUMED_LANE}::int, -queued, -queued, -queued, 0, -queued,
        -(select count(*) from cleared where kept->>'by' = ${runId}::text) from counted where queued > 0
      on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
        cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
        rows_out_of_credits = y.rows_out_of_credits + excluded.rows_out_of_credits,
        cells_kept = y.cells_kept + excluded.cells_kept
    ), running as (
      update runs set state = 'running', finished_at = null
      where org_id = ${org_id} and run_id = ${runId} and (select queued from counted) > 0
    )
    select queued, ${announcing(sheet_id)} from counted`.execute(trx)
  const queued = rows[0]?.queued ?? 0
  await queueFlights(trx, { org_id, run_id: runId, ticket }, queued)
  const details = {
    run_id: runId,
    rows: queued,
    ...(maxCredits === undefined ? {} : { max_credits: maxCredits }),
  }
  await recordAudit(trx, org_id, actor, { action: 'run.resumed', target: sheet_id, details })
  return queued
}

async function lockRun(trx: Db, { org_id, sheet_id }: SheetRecord, runId: string): Promise<LockedRun> {
  await sql`select from runs where org_id = ${org_id} and run_id = ${runId} for no key update`.execute(trx)
  const { rows } = await sql<LockedRun>`
    select r.unlaunched is not null or exists (
        select from flights f where f.org_id = r.org_id and f.run_id = r.run_id) as is_flying, r.actions, r.state,
      exists (select from purses p where p.org_id = r.org_id and p.purse_id = r.cap_purse_id and p.subject is not null) as shares_cap,
      r.cap_purse_id, ${RUN_SPENT} as credits_millis
    from runs r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.run_id = ${runId}`.execute(trx)
  const [run] = rows
  if (run === undefined) throw notFound('Run')
  return run
}

/** Sets the new total cap. A run that had no cap gets one that includes what it has spent so far. */
async function setCap(
  trx: Db,
  { orgId, runId }: { orgId: string; runId: string },
  { is_flying, shares_cap, cap_purse_id, credits_millis }: LockedRun,
  maxCredits: number | null,
): Promise<void> {
  if (shares_cap) {
    throw new AppError(
      'Conflict',
      'The cap of this run is shared with other runs of its webhook, source or sync; change it there, and resume without max_credits',
    )
  }
  const limit = maxCredits === null ? null : toMillis(maxCredits)
  if (cap_purse_id === null && limit === null) return
  if (cap_purse_id === null && is_flying) {
    throw new AppError(
      'Conflict',
      'The run is still running without max_credits; stop it, or wait until it has finished, before you set one',
    )
  }
  if (cap_purse_id !== null) await lockLimits(trx, orgId, [cap_purse_id])
  const spent = await requireRoomInCap(trx, orgId, { cap_purse_id, credits_millis }, limit)
  if (cap_purse_id !== null) return changeCap(trx, orgId, cap_purse_id, limit)
  const limitId = await createCap(trx, orgId, limit, spent)
  await trx
    .updateTable('runs')
    .set({ cap_purse_id: limitId })
    .where('org_id', '=', orgId)
    .where('run_id', '=', runId)
    .execute()
}
