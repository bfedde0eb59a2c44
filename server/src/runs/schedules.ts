import type { OnlyRows } from '#contract/runs.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { invalid } from '../lib/errors.ts'
import { DEFAULT_TIMEZONE, readCron } from '../lib/timing/cron.ts'
import { MILLIS } from '../money/store/credits.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { databaseTime, deleteSchedule, findSchedule, putSchedule, type Schedule } from './store/schedules.ts'

/** Sets the schedule of a sheet, in place of the former one. A cap that is not given stays. */
export async function setSchedule(
  db: Db,
  actor: Actor,
  { org_id, sheet_id }: SheetKey,
  given: {
    cron: string
    timezone?: string | undefined
    only?: OnlyRows | undefined
    /** The view whose rows each tick runs. */
    viewId?: string | undefined
    /** The cap of each tick, or null for none. */
    maxCreditsMillis?: number | null | undefined
  },
): Promise<Schedule> {
  const { cron, timezone = DEFAULT_TIMEZONE, only = null } = given
  const nextTick = readCron(cron, timezone)
  return inTransaction(db, async (trx) => {
    const next_run_at = nextTick(await databaseTime(trx))
    if (next_run_at === null) throw invalid('cron', `no date ever matches ${cron}`)
    const max_credits_millis =
      given.maxCreditsMillis === undefined
        ? ((await findSchedule(trx, { org_id, sheet_id }))?.max_credits_millis ?? null)
        : given.maxCreditsMillis
    const when = { cron: cron.trim(), timezone, next_run_at }
    const schedule = {
      org_id,
      sheet_id,
      ...when,
      only_rows: only,
      max_credits_millis,
      view_id: given.viewId ?? null,
    }
    await putSchedule(trx, schedule)
    await recordAudit(trx, org_id, actor, {
      action: 'schedule.set',
      target: sheet_id,
      details: {
        cron: schedule.cron,
        timezone,
        ...(only === null ? {} : { only }),
        ...(max_credits_millis === null ? {} : { max_credits: max_credits_millis / MILLIS }),
      },
    })
    return schedule
  })
}

/** Removes the schedule of a sheet. Returns whether there was one. */
export async function unsetSchedule(db: Db, actor: Actor, sheet: SheetKey): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const had = await deleteSchedule(trx, sheet)
    if (had) await recordAudit(trx, sheet.org_id, actor, { action: 'schedule.unset', target: sheet.sheet_id })
    return had
  })
}
