import { z } from 'zod'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db, Store } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { reasonOf } from '../lib/errors.ts'
import { defineJob, type Job } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import { readCron } from '../lib/timing/cron.ts'
import { getDefinition } from '../sheets/store/definitions.ts'
import { countRows } from '../sheets/store/rows.ts'
import { findSheet } from '../sheets/store/sheets.ts'
import { startRun } from './queue.ts'
import { chooseOnly } from './row-choice.ts'
import { advanceSchedule, deleteSchedule, listDueSchedules, lockDueSchedule } from './store/schedules.ts'
import { chooseViewRows } from './view-rows.ts'

type Parts = { store: Store; log: Log; catalogue: Catalogue }

/**
 * The number of schedules read at once. Small, because starting a run of many rows takes a while and others become due
 * meanwhile.
 */
const AT_ONCE = 10
const SCHEDULE = { email: 'schedule', keyId: null }

/**
 * Defines the job that starts scheduled runs within about a second of their time. A cron job would start them up to a
 * minute late.
 */
export function scheduleJob(parts: Parts): Job {
  return defineJob({
    name: 'start_scheduled_runs',
    everySecond: true,
    payload: z.undefined(),
    run: (_payload, signal) => startDueRuns(parts, signal),
  })
}

/** Starts every run that is due now. Any number of processes may call it at once: each tick is taken by one of them. */
export async function startDueRuns(parts: Parts, signal?: AbortSignal): Promise<void> {
  const { store } = parts
  for (;;) {
    const due = await listDueSchedules(store.system, AT_ONCE)
    let taken = 0
    const startInTurn = async (ofOrg: readonly SheetKey[]) => {
      for (const key of ofOrg) {
        if (signal?.aborted) return
        if (await startDueRun(parts, key)) taken += 1
      }
    }
    // A schedule with many rows, or of a locked sheet, delays only its own organisation.
    await Promise.all(
      Map.groupBy(due, ({ org_id }) => org_id)
        .values()
        .map(startInTurn),
    )
    if (taken === 0 || signal?.aborted) return
  }
}

/** Starts the run of a schedule. Returns false if another process has taken the tick, or if the start has failed. */
async function startDueRun({ store, log, catalogue }: Parts, key: SheetKey): Promise<boolean> {
  const about = { sheet_id: key.sheet_id }
  try {
    const outcome = await tick(store.org(key.org_id), key, catalogue)
    if (outcome === null) return false
    log.info({ ...about, run_id: outcome.runId }, outcome.words)
    return true
  } catch (cause) {
    log.warn({ ...about, cause: reasonOf(cause) }, 'a scheduled run failed to start; tried again')
    return false
  }
}

type Outcome = { words: string; runId?: string }

/**
 * Moves a schedule on and starts its run in one transaction, so that a tick is neither lost nor taken twice. Only the
 * database's clock counts. The next tick is the first one after now, so that missed ticks are made up for once. Returns
 * null if another process has taken the tick.
 */
async function tick(db: Db, key: SheetKey, catalogue: Catalogue): Promise<Outcome | null> {
  return db.transaction().execute(async (trx) => {
    const schedule = await lockDueSchedule(trx, key)
    if (schedule === undefined) return null
    const sheet = await findSheet(trx, key.org_id, key.sheet_id)
    const next = readCron(schedule.cron, schedule.timezone)(schedule.now)
    if (sheet === undefined || next === null) {
      await deleteSchedule(trx, key)
      return { words: sheet === undefined ? 'a schedule went with its sheet' : 'a schedule came to its end' }
    }
    if (!(await advanceSchedule(trx, schedule, next))) return null
    const definition = await getDefinition(trx, sheet)
    const actions = definition.actions.map((action) => action.id)
    if (actions.length === 0) return { words: 'nothing was run by schedule: the sheet has no actions' }
    if ((await countRows(trx, sheet)) === 0) {
      return { words: 'nothing was run by schedule: the sheet has no rows' }
    }
    const rows =
      schedule.view_id === null
        ? chooseOnly(schedule.only_rows, actions)
        : await chooseViewRows(trx, { sheet, definition, catalogue }, schedule.view_id)
    if (typeof rows === 'string') return { words: `nothing was run by schedule: ${rows}` }
    const { runId } = await startRun(trx, SCHEDULE, {
      sheet,
      actions,
      rows,
      trigger: 'schedule',
      ...(schedule.max_credits_millis !== null && { cap: { limitMillis: schedule.max_credits_millis } }),
    })
    return { words: 'a scheduled run was started', runId }
  })
}
