import { z } from 'zod'
import type { Db, Store } from '../../database/connection/db.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import type { Config } from '../../lib/config/config.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { evaluateSegments } from './evaluate.ts'
import { listSegmentsToPrune, pruneChanges } from './store/changes.ts'
import { listDueSegments, listOrgsWithDueSegments, lockSegment, type SegmentKey } from './store/segments.ts'

const EVALUATION_JOB = 'evaluate_segment'
const AT_ONCE = 500
/** The number of segments queued per organisation before the next organisation gets its turn. */
const QUEUED_AT_ONCE = 20
const CHANGES_AT_ONCE = 5000
/** The maximum time of a turn: other jobs wait for the few job slots. */
const TURN_MS = 20_000

export function segmentJobs(store: Store, config: Pick<Config, 'LOAM_SEGMENT_CHANGES_DAYS'>): Job[] {
  return [
    defineJob({
      name: 'find_due_segments',
      cron: '* * * * *',
      payload: z.unknown(),
      run: (_payload, signal) => queueDueSegments(store, signal),
    }),
    defineJob({
      name: EVALUATION_JOB,
      payload: z.object({ org_id: z.string(), segment_id: z.string() }),
      run: (key, signal) => evaluateForATurn(store, key, signal),
    }),
    defineJob({
      name: 'prune_segment_changes',
      cron: '17 * * * *',
      payload: z.unknown(),
      run: (_payload, signal) => pruneFeeds(store, config.LOAM_SEGMENT_CHANGES_DAYS, signal),
    }),
  ]
}

/** Queues one job per segment that is due, so that a large segment delays no other. Organisations take turns. */
async function queueDueSegments({ system }: Store, signal: AbortSignal): Promise<void> {
  const rest = new Map<string, string | null>(
    (await listOrgsWithDueSegments(system)).map((orgId) => [orgId, null]),
  )
  while (rest.size > 0) {
    for (const [orgId, after] of rest) {
      signal.throwIfAborted()
      const due = await listDueSegments(system, { after, limit: QUEUED_AT_ONCE, orgId, now: null })
      for (const key of due) await queueEvaluation(system, key)
      const last = due.at(-1)
      if (last === undefined) rest.delete(orgId)
      else rest.set(orgId, last.segment_id)
    }
  }
}

async function queueEvaluation(db: Db, { org_id, segment_id }: SegmentKey): Promise<void> {
  await addLongJob(
    db,
    { lanes: 'feeds', name: EVALUATION_JOB },
    { org_id, segment_id },
    { key: `${EVALUATION_JOB}:${segment_id}` },
  )
}

async function evaluateForATurn(store: Store, key: SegmentKey, signal: AbortSignal): Promise<void> {
  const started = performance.now()
  const isOver = () => signal.aborted || performance.now() - started > TURN_MS
  const db = store.org(key.org_id)
  if (!(await evaluateSegments(db, key.org_id, key.segment_id, { isOver, signal })))
    await queueEvaluation(db, key)
}

/** Removes changes older than the given days. `pruned_seq` tells readers who come too late. */
export async function pruneFeeds({ system }: Store, days: number, signal: AbortSignal): Promise<void> {
  for (let after: string | null | undefined = null; after !== undefined;) {
    const found: SegmentKey[] = await listSegmentsToPrune(system, days, after, AT_ONCE)
    for (const key of found) {
      const pruneSome = () =>
        system.transaction().execute(async (trx) => {
          const segment = await lockSegment(trx, key)
          return segment !== undefined && pruneChanges(trx, segment, days, CHANGES_AT_ONCE)
        })
      while (await pruneSome()) signal.throwIfAborted()
    }
    after = found.at(-1)?.segment_id
  }
}
