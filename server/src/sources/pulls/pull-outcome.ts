import type { Db } from '../../database/connection/db.ts'
import { payForPage } from '../store/source-holds.ts'
import { advancePull, type Claim, lockClaim, type PullChange } from '../store/source-pulls.ts'
import { lookUpByKey } from '../store/source-records.ts'
import { listSyncs } from '../store/source-syncs.ts'
import type { PullCounts, SourceFault, SourceWalk } from '../store/sources.ts'
import type { Verdict } from './faults.ts'
import { queueDelivery, queuePull } from './jobs.ts'
import type { PageBatch } from './page-batch.ts'
import type { Prices } from './prices.ts'
import { takeRecords, type Taken } from './record-intake.ts'
import { nextTick } from './schedule.ts'

/** The claim after a write, or null if another worker has the source now and nothing was written. */
type Written = Claim | null

export type BatchResult = { walk: SourceWalk; batch: PageBatch; most: number; prices: Prices }

/**
 * Writes records, state, counts and credits of pages in one transaction, fenced by the source's version. After a crash
 * before the commit the pages are read again; a crash after it loses nothing; of two workers, only one writes.
 */
export async function writeBatch(db: Db, claim: Claim, result: BatchResult): Promise<Written> {
  return db.transaction().execute(async (trx) => {
    const locked = await lockClaim(trx, claim)
    if (locked === undefined) return null
    await lookUpByKey(trx)
    const { walk, batch, most, prices } = result
    const notes = walk.notes === true
    const taken = await takeRecords(trx, locked, batch.records, { limit: most, notes })
    const costMillis = taken.fresh * prices.recordMillis + batch.pagesByModel * prices.pageMillis
    await payForPage(trx, locked, { costMillis, records: taken.fresh })
    const moved = await advancePull(trx, locked, {
      ...changeAfter(locked, result, taken),
      failures: 0,
      error: null,
      leads: taken.fresh,
      changes: taken.fresh + taken.updated,
      spentMillis: costMillis,
    })
    if (taken.fresh + taken.updated > 0) {
      for (const sync of await listSyncs(trx, locked)) await queueDelivery(trx, sync)
    }
    if (moved.claimed_until === null && moved.next_pull_at !== null && moved.status === 'active') {
      await queuePull(trx, moved, moved.next_pull_at)
    }
    return moved
  })
}

type Change = Pick<PullChange, 'status' | 'walk' | 'resume' | 'nextPullAt' | 'lastPull' | 'keeps'>

/** Returns the state of the pull after a batch of pages. */
function changeAfter(locked: Claim, { walk, batch }: BatchResult, taken: Taken): Change {
  const { last: page, step } = batch
  const counts = addUp(walk.counts, batch, taken)
  const isFull = locked.max_records !== null && locked.lead_count + taken.fresh >= locked.max_records
  const { next_pull_at: dueAt } = locked
  // The page still has records that did not fit. It is read again when there is room.
  if (taken.isCut && !isFull) return { walk: { ...walk, counts }, nextPullAt: dueAt, keeps: true }
  if (step.goesOn && !isFull) {
    const onward = { ...walk, state: page.next, progress: step.progress, counts }
    const waits = page.afterMs > 0
    const nextPullAt = waits ? new Date(locked.now.getTime() + page.afterMs) : dueAt
    return { walk: onward, nextPullAt, keeps: !waits }
  }
  const note = isFull ? 'max_count was reached' : step.goesOn ? null : step.note
  const lastPull = { ...counts, started_at: walk.started_at, finished_at: locked.now.toISOString(), note }
  const next = locked.cron === null || isFull ? null : nextTick(locked.cron, locked.now, locked.stop_at)
  return {
    status: next === null ? 'completed' : 'active',
    walk: null,
    resume: page.resume,
    nextPullAt: next,
    lastPull,
    keeps: false,
  }
}

function addUp(
  counts: PullCounts,
  { skipped, pages }: PageBatch,
  { fresh, updated, unchanged }: Taken,
): PullCounts {
  return {
    new: counts.new + fresh,
    updated: counts.updated + updated,
    unchanged: counts.unchanged + unchanged,
    skipped: counts.skipped + skipped,
    pages: counts.pages + pages,
  }
}

const NOTHING_TAKEN = { leads: 0, changes: 0, spentMillis: 0 }

/** Writes a refused page. The pull continues there later, or when a user resumes it. */
export async function writeRefusal(
  db: Db,
  claim: Claim,
  walk: SourceWalk | null,
  { afterMs, failures, message, hint }: Verdict,
): Promise<Written> {
  return leave(db, claim, (now) => ({
    walk,
    failures,
    error: faultAt(now, message, hint),
    ...(afterMs === null ? { status: 'paused' as const } : {}),
    nextPullAt: afterMs === null ? claim.next_pull_at : new Date(now.getTime() + afterMs),
  }))
}

/** Pauses a pull at its current state until there are credits again (D49). */
export async function writeOutOfCredits(
  db: Db,
  claim: Claim,
  walk: SourceWalk | null,
  { message, hint }: { message: string; hint: string },
): Promise<Written> {
  return leave(db, claim, (now) => ({
    walk,
    status: 'paused_out_of_credits',
    failures: 0,
    error: faultAt(now, message, hint),
    nextPullAt: claim.next_pull_at,
  }))
}

/** Puts the source aside between two pages. Another job continues at once. */
export async function putAside(db: Db, claim: Claim, walk: SourceWalk | null): Promise<Written> {
  return leave(db, claim, () => ({
    walk,
    failures: claim.failures,
    error: claim.last_error,
    nextPullAt: claim.next_pull_at,
  }))
}

export async function writeExpired(db: Db, claim: Claim): Promise<Written> {
  return leave(db, claim, () => ({
    walk: null,
    status: 'expired',
    failures: 0,
    error: claim.last_error,
    nextPullAt: null,
  }))
}

type Leaving = Pick<PullChange, 'walk' | 'status' | 'failures' | 'error' | 'nextPullAt'>

async function leave(db: Db, claim: Claim, change: (now: Date) => Leaving): Promise<Written> {
  return db.transaction().execute(async (trx) => {
    const locked = await lockClaim(trx, claim)
    if (locked === undefined) return null
    await payForPage(trx, locked, { costMillis: 0, records: 0 })
    const moved = await advancePull(trx, locked, { ...change(locked.now), ...NOTHING_TAKEN, keeps: false })
    if (moved.status === 'active' && moved.next_pull_at !== null)
      await queuePull(trx, moved, moved.next_pull_at)
    return moved
  })
}

function faultAt(now: Date, message: string, hint: string): SourceFault {
  return { at: now.toISOString(), message, hint }
}
