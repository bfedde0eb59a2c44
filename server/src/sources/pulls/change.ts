import { isDeepStrictEqual } from 'node:util'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { invalid, notFound } from '../../lib/errors.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { databaseTime } from '../../runs/store/schedules.ts'
import type { Source } from '../define.ts'
import type { SourceRequest } from '../request.ts'
import { lockSource, type SourceChange, type SourceRecord, updateSource } from '../store/sources.ts'
import type { Opened } from './create.ts'
import { queuePull } from './jobs.ts'
import { nextTick, toCronLine } from './schedule.ts'

type Given = Omit<Opened, 'lookups'> & { source: Source }

/**
 * Replaces the fields of a source, as if it had been created with them. Its records and syncs stay. A source that
 * reads something else now starts from the beginning; records that it already has keep their rows, because their keys
 * are the same. Returns whether it reads again.
 */
export async function changeSource(
  db: Db,
  actor: Actor,
  { org_id, instance_id }: SourceRecord,
  given: Given,
): Promise<boolean> {
  const { source, request, reached } = given
  return inTransaction(db, async (trx) => {
    const before = await lockSource(trx, { org_id, instance_id })
    if (before === undefined) throw notFound('Source')
    if (before.status === 'expired') {
      throw invalid('source', 'has expired and cannot be changed; create another one')
    }
    checkCap(request, before)
    const now = await databaseTime(trx)
    if (request.stopAt !== null && request.stopAt <= now) throw invalid('stop_at', 'must be in the future')
    const again = startsAgain(before, given)
    // A source that receives has neither a schedule nor a time.
    const timing = source.receives === null ? timePulls(before, request, { now, again }) : NO_TIMING
    await updateSource(trx, before, {
      name: request.name ?? before.name,
      body: JSON.stringify(request.given),
      provider: source.receives?.from.id ?? reached?.pull.provider.id ?? '',
      connection: request.connection,
      stop_at: request.stopAt,
      pull_existing: request.pullExisting,
      max_records: request.maxRecords,
      max_credits_millis: request.maxCredits === null ? null : Math.round(request.maxCredits * MILLIS),
      ...timing,
      ...(again ? { walk: null, resume: null, last_error: null } : {}),
    })
    const details = { name: request.name ?? before.name, source_id: before.slug, reads_again: again }
    await recordAudit(trx, org_id, actor, { action: 'source.changed', target: instance_id, details })
    const { status, next_pull_at: next = null } = timing
    if (status === 'active' && next !== null) await queuePull(trx, before, next)
    return again
  })
}

function checkCap({ maxCredits }: SourceRequest, { spent_millis: spent }: SourceRecord): void {
  if (maxCredits !== null && Math.round(maxCredits * MILLIS) < spent) {
    throw invalid('max_credits', `must be at least ${spent / MILLIS}, the credits already spent`)
  }
}

const NO_TIMING: { status?: never; next_pull_at?: never } = {}

/** Returns true if the source reads something else now, or had reached its number of records and may have more. */
function startsAgain(before: SourceRecord, { source, request, reached }: Given): boolean {
  if (source.receives !== null) return false
  const { max_records: most, lead_count: count } = before
  const wasFull = most !== null && count >= most
  return (
    (reached?.pull.provider.id ?? '') !== before.provider ||
    request.connection !== before.connection ||
    !isDeepStrictEqual(request.given, before.body) ||
    (wasFull && (request.maxRecords === null || request.maxRecords > count))
  )
}

/** Returns when the source pulls next. A paused source stays paused; one without a next pull is completed. */
function timePulls(
  before: SourceRecord,
  { schedule, stopAt }: SourceRequest,
  { now, again }: { now: Date; again: boolean },
): Pick<SourceChange, 'schedule' | 'cron' | 'next_pull_at' | 'status'> {
  const { status: former, next_pull_at: due } = before
  // The words hourly, daily and weekly stand for the minute of creation, so an equal schedule keeps its line.
  const cron =
    schedule === null ? null : schedule === before.schedule ? before.cron : toCronLine(schedule, now)
  const tick = cron === null ? null : nextTick(cron, now, stopAt)
  if (cron !== null && tick === null) throw invalid('schedule', `no date ever matches ${cron}`)
  const isPulling = before.walk !== null || (due !== null && due <= now)
  const next = again ? now : isPulling ? due : tick
  const isPaused = former === 'paused' || former === 'paused_out_of_credits'
  return {
    schedule,
    cron,
    next_pull_at: isPaused ? (next ?? due) : next,
    status: isPaused ? former : next === null ? 'completed' : 'active',
  }
}
