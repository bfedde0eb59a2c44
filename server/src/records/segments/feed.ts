import type { SegmentChanges } from '#contract/segments.ts'
import type { Db } from '../../database/connection/db.ts'
import { AppError } from '../../lib/errors.ts'
import { listChanges } from './store/changes.ts'
import { readClock } from './store/members.ts'
import type { SegmentRecord } from './store/segments.ts'

/** The minimum time for which a cursor from before a filter change gets a 409. */
const FILTER_NOTICE_MS = 5 * 60_000

export type FeedPosition = { since?: number; limit: number; filterHash?: string }

/**
 * Reads a page of the feed (D80). Readers only send their position. Public readers treat 409 as "later" and detect a
 * changed filter by its hash. Therefore a 409 without a hash ends after a while: a lasting one would make them wait for
 * ever.
 */
export async function readFeed(
  db: Db,
  segment: SegmentRecord,
  position: FeedPosition,
): Promise<SegmentChanges> {
  const { since, limit, filterHash } = position
  const { last_seq, pruned_seq } = segment
  await refuseOtherFilter(db, segment, since, filterHash)
  if (since === 0) {
    const after = Math.max(pruned_seq, last_seq - limit)
    const changes = await listChanges(db, segment, { after, limit })
    return printPage(segment, changes, { hasMore: false, nextSince: changes.at(-1)?.seq ?? last_seq })
  }
  const after = since ?? pruned_seq
  if (after < pruned_seq) throw positionError('Changes after this number were removed by age')
  if (after > last_seq)
    throw positionError('The feed has not reached this number: it belongs to another segment or database')
  const found = await listChanges(db, segment, { after, limit: limit + 1 })
  const changes = found.slice(0, limit)
  // The changes were pruned after the segment was read.
  if (changes[0] !== undefined && changes[0].seq !== after + 1) {
    throw positionError('Changes after this number were removed by age')
  }
  const nextSince = changes.at(-1)?.seq ?? after
  return printPage(segment, changes, { hasMore: found.length > limit, nextSince })
}

const positionError = (why: string) =>
  new AppError('Gone', `${why}. Restart with since=0, and read the members for the missed changes`)

async function refuseOtherFilter(
  db: Db,
  segment: SegmentRecord,
  since: number | undefined,
  known: string | undefined,
): Promise<void> {
  const { evaluated_version, filter_version, filter_hash, filter_seq, filter_changed_at } = segment
  if (known !== undefined && known !== filter_hash) {
    throw new AppError(
      'Conflict',
      `The filter of the segment changed: its hash is now ${filter_hash}. Restart with since=0 and without filterHash`,
    )
  }
  if (evaluated_version < filter_version) {
    throw new AppError(
      'Conflict',
      filter_version === 1
        ? 'The segment is being evaluated for the first time. Try again shortly'
        : 'The filter of the segment changed, and its members are being evaluated again. Try again shortly, and compare filterHash',
    )
  }
  if (filter_version === 1 || since === undefined || since === 0 || since > filter_seq) return
  const age = (await readClock(db)).getTime() - filter_changed_at.getTime()
  if (age > FILTER_NOTICE_MS) return
  throw new AppError(
    'Conflict',
    'The filter of the segment changed after this number, so membership has another meaning. Restart with since=0',
  )
}

function printPage(
  { segment_id, filter_hash }: SegmentRecord,
  changes: Awaited<ReturnType<typeof listChanges>>,
  { hasMore, nextSince }: { hasMore: boolean; nextSince: number },
): SegmentChanges {
  return {
    segmentId: segment_id,
    filterHash: filter_hash,
    changes: changes.map(({ seq, entity_id, kind, at }) => ({
      seq,
      entityId: entity_id,
      kind,
      at: at.toISOString(),
    })),
    hasMore,
    nextSince,
  }
}
