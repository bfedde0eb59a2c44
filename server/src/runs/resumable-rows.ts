import { sql } from 'kysely'
import type { Db } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { invalid, notFound } from '../lib/errors.ts'
import { toMillis } from '../money/caps.ts'
import { MILLIS } from '../money/store/credits.ts'
import { listLimits } from '../money/store/limits/limits.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { firstIds, type StartGroup, toStartGroup } from './failure-starts.ts'
import { unlaunchedRows } from './launch-pieces.ts'
import type { Trigger } from './run-request.ts'

/**
 * Selects the cells at which rows of a run ended for lack of credits and can go on (M7), also those that kept their
 * former result (D84), with the number of actions that the run skipped: those with older results. Leaves out rows that
 * were deleted or run since, or that another run is still to enqueue.
 */
export const resumableCells = (
  { org_id, sheet_id }: SheetKey,
  runId: string,
  actions: readonly string[],
) => sql`
  select c.row_id, c.action, passed.skipped from (
    select * from cells where org_id = ${org_id} and sheet_id = ${sheet_id} and action = any(${actions}::text[])
      and status = 'out_of_credits' and run_id = ${runId}
    union all
    select * from cells where org_id = ${org_id} and sheet_id = ${sheet_id} and action = any(${actions}::text[])
      and kept is not null and kept->>'because' = 'out_of_credits' and run_id = ${runId}
  ) c join rows r on r.org_id = c.org_id and r.row_id = c.row_id, lateral (
    select count(*) filter (where d.run_id = ${runId}) as ended, count(*) filter (where d.run_id <> ${runId}
      and array_position(${actions}::text[], d.action) < array_position(${actions}::text[], c.action)
      and d.completed_at < (select created_at from runs where org_id = ${org_id} and run_id = ${runId}))::int as skipped
    from cells d where d.org_id = c.org_id and d.row_id = c.row_id offset 0
  ) passed
  where r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
    and not r.seq <@ (${unlaunchedRows({ org_id, sheet_id })})
    and array_position(${actions}::text[], c.action) = passed.skipped + passed.ended`

/** The credits that the run `r` has spent, in thousandths. */
export const RUN_SPENT = sql.raw(`(select coalesce(sum(t.credits_millis), 0)::bigint from run_tallies t
  where t.org_id = r.org_id and t.run_id = r.run_id)`)

/** Returns what counts as spent in the cap of a run. Throws 400 if the new total would be below it. */
export async function requireRoomInCap(
  db: Db,
  orgId: string,
  { cap_purse_id, credits_millis }: { cap_purse_id: string | null; credits_millis: number },
  limitMillis: number | null,
): Promise<number> {
  const [cap] = cap_purse_id === null ? [] : await listLimits(db, orgId, [cap_purse_id])
  const spent = cap?.spent ?? credits_millis
  if (limitMillis !== null && limitMillis < spent) {
    throw invalid('max_credits', `must be at least ${spent / MILLIS}, which were spent already`)
  }
  return spent
}

export type Resumption = {
  run: {
    /** The sheet as the run has it: with the revision and settings of when it was queued. */
    sheet: SheetRecord
    actions: string[]
    price_version: number
    trigger: Trigger
  }
  groups: StartGroup[]
  /** The credits left of the cap that the run would have. */
  left: number | undefined
}

type RunSettings = Pick<SheetRecord, 'revision' | 'cache_enabled' | 'cache_since' | 'continue_on_fail'>
type FoundRun = RunSettings & {
  actions: string[]
  price_version: number
  trigger: Trigger
  cap_purse_id: string | null
  credits_millis: number
}

/** Returns what a resumption would run, without changing anything. */
export async function readResumption(
  db: Db,
  sheet: SheetRecord,
  runId: string,
  maxCredits: number | null | undefined,
): Promise<Resumption> {
  const { org_id, sheet_id } = sheet
  const { rows } = await sql<FoundRun>`
    select r.revision, r.cache_enabled, r.cache_since::text, r.continue_on_fail, r.actions, r.price_version, r.trigger,
      r.cap_purse_id, ${RUN_SPENT} as credits_millis
    from runs r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.run_id = ${runId}`.execute(db)
  const [run] = rows
  if (run === undefined) throw notFound('Run')
  const { revision, cache_enabled, cache_since, continue_on_fail, actions, price_version, trigger } = run
  const wanted = maxCredits === undefined || maxCredits === null ? null : toMillis(maxCredits)
  const spent = await requireRoomInCap(db, org_id, run, wanted)
  const [cap] = run.cap_purse_id === null ? [] : await listLimits(db, org_id, [run.cap_purse_id])
  const limit = maxCredits === undefined ? (cap?.limit ?? null) : wanted
  const { rows: found } = await sql<{ action: string; count: number; ids: string[] }>`
    with resumable as (${resumableCells(sheet, runId, actions)})
    select action, count(*)::int as count, ${firstIds} as ids
    from resumable group by action`.execute(db)
  return {
    run: {
      sheet: { ...sheet, revision, cache_enabled, cache_since, continue_on_fail },
      actions,
      price_version,
      trigger,
    },
    groups: found.map(({ action, ...rest }) => toStartGroup(actions.slice(actions.indexOf(action)), rest)),
    left: limit === null ? undefined : Math.max(0, limit - spent) / MILLIS,
  }
}
