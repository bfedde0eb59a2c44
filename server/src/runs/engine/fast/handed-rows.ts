import { isUnavailable, type Store } from '../../../database/connection/db.ts'
import type { HandedRow, HandedRows, HandOver } from '../../../database/queue/hand-over.ts'
import { giveJobBack, removeJobs } from '../../../database/queue/handed-jobs.ts'
import type { WorkerIds } from '../../../database/queue/pool.ts'
import { reasonOf } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { JobPostponed } from '../../../lib/job.ts'
import type { Log } from '../../../lib/log.ts'
import { backoff } from '../../../lib/timing/backoff.ts'
import { createBatcher } from '../../../lib/timing/batcher.ts'
import type { Engine } from '../engine-context.ts'
import { walkHanded } from './fresh-rows.ts'

/** The number of rows in hand above which jobs are left to the pools, which take turns among organisations. */
const MAX_IN_HAND = 64
const REPORTING = { enough: MAX_IN_HAND, ms: 25 }
const MAX_PAUSE_MS = 1000

/**
 * A worker id by which jobs are locked. If it is in doubt whether more of its jobs are locked than are known, the id
 * ends with the last known one.
 */
type Holder = { id: string; inHand: number; isInDoubt: boolean }
type Report = { job: number; holder: Holder }

/**
 * Walks rows whose jobs were made in this process, from the moment of the commit on. The jobs were locked by this
 * worker when they were made, so no worker has to be woken, find them and take them. If the process dies they go to
 * other workers, as any job does. P2: a row takes 459 ms on a busy machine instead of 704, won 3 of 3 rounds in turns (2
 * x86_64 cores beside others, 2026-11-19).
 */
export function takeHandedRows({
  store,
  engine,
  log,
  workerIds,
  handOver,
}: {
  store: Store
  engine: Engine
  log: Log
  workerIds: WorkerIds
  handOver: HandOver
}): { stop(): Promise<void> } {
  const underWay = new Set<Promise<void>>()
  let inHand = 0
  let holder = createHolder()

  function createHolder(): Holder {
    const made = { id: `handed ${newId()}`, inHand: 0, isInDoubt: false }
    workerIds.add(made.id)
    return made
  }

  function reserve(of: Holder, count: number): void {
    inHand += count
    of.inHand += count
  }

  function leave(of: Holder, count: number): void {
    reserve(of, -count)
    // Other workers give back jobs that are locked by an id that has ended.
    if (of.isInDoubt && of.inHand === 0) workerIds.retire(of.id)
  }

  const reportDone = createBatcher<Report, true>({
    maxItems: MAX_IN_HAND,
    maxInFlight: 1,
    gather: REPORTING,
    async run(reports) {
      const jobs = reports.map(({ job, holder: { id } }) => ({ id: job, workerId: id }))
      await untilItArrives(() => removeJobs(store, jobs))
      return reports.map(() => true as const)
    },
  })

  /**
   * Sends again while the database is away. At the end of the process the heartbeat gives back what is still locked.
   */
  async function untilItArrives(send: () => Promise<unknown>): Promise<void> {
    for (let outages = 0; ; outages += 1) {
      try {
        await send()
        return
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        await engine.ending.pause(backoff(outages, { firstMs: 250, maxMs: MAX_PAUSE_MS }))
        if (engine.ending.hasBegun()) return
      }
    }
  }

  async function walk(of: Holder, { facts, ticket }: HandedRows, { job, r, data, cells }: HandedRow) {
    try {
      const named = { o: facts.org_id, r, t: ticket, run: facts.run_id }
      await walkHanded(engine, named, { facts, data, cells })
      await reportDone({ job, holder: of })
    } catch (cause) {
      const line = { row: r, cause: reasonOf(cause) }
      log[cause instanceof JobPostponed ? 'debug' : 'error'](line, 'a row is left to other workers')
      await untilItArrives(() => giveJobBack(store, { id: job, workerId: of.id }, line.cause))
    } finally {
      leave(of, 1)
    }
  }

  /** Waits for the work until the process ends. */
  function track(work: Promise<void>): void {
    const tracked = work.catch((cause: unknown) =>
      log.error({ cause: reasonOf(cause) }, 'the job of a row stays locked until its worker ends'),
    )
    underWay.add(tracked)
    void tracked.finally(() => underWay.delete(tracked))
  }

  handOver.taker = {
    reserve(count) {
      if (inHand + count > MAX_IN_HAND || engine.ending.hasBegun()) return null
      const of = holder
      reserve(of, count)
      const ended = Promise.withResolvers<void>()
      track(ended.promise)
      return {
        workerId: of.id,
        begin(handed) {
          for (const row of handed.rows) track(walk(of, handed, row))
          leave(of, count - handed.rows.length)
          ended.resolve()
        },
        giveUp(isInDoubt) {
          if (isInDoubt) {
            of.isInDoubt = true
            if (holder === of) holder = createHolder()
          }
          leave(of, count)
          ended.resolve()
        },
      }
    },
  }

  return {
    async stop() {
      handOver.taker = null
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
