import type { SegmentChanges } from '#contract/segments.ts'
import type { Db } from '../../database/connection/db.ts'
import { AppError } from '../../lib/errors.ts'
import { listChanges } from './store/changes.ts'
import { readClock } from './store/members.ts'
import type { SegmentRecord } from './store/segments.ts'

/** How long at least a cursor from before a change of the filter is told so by a 409. */
const FILTER_NOTICE_MS = 5 * 60_000

export type FeedPosition = { since?: number; limit: number; filterHash?: string }

/**
 * A page of the feed (D80). A reader sends its place only. Public ones take 409 for "later" and find a changed filter by its
 * hash, so a 409 without a hash ends after a while: with one that lasted they would wait for ever.
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
  if (after < pruned_seq) throw tooOld('Changes after this number were removed by age')
  if (after > last_seq)
    throw tooOld('The feed has not come to this number: it is that of another segment or database')
  const found = await listChanges(db, segment, { after, limit: limit + 1 })
  const changes = found.slice(0, limit)
  // Removed since the segment was read.
  if (changes[0] !== undefined && changes[0].seq !== after + 1) {
    throw tooOld('Changes after this number were removed by age')
  }
  const nextSince = changes.at(-1)?.seq ?? after
  return printPage(segment, changes, { hasMore: found.length > limit, nextSince })
}

const tooOld = (why: string) =>
  new AppError('Gone', `${why}. Start anew with since=0, and read the members for what was missed`)

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
      `The filter of the segment changed: it is ${filter_hash} now. Start anew with since=0 and without filterHash`,
    )
  }
  if (evaluated_version < filter_version) {
    throw new AppError(
      'Conflict',
      filter_version === 1
        ? 'The segment is evaluated for the first time. Try again shortly'
        : 'The filter of the segment changed, and its members are evaluated anew. Try again shortly, and compare filterHash',
    )
  }
  if (filter_version === 1 || since === undefined || since === 0 || since > filter_seq) return
  const age = (await readClock(db)).getTime() - filter_changed_at.getTime()
  if (age > FILTER_NOTICE_MS) return
  throw new AppError(
    'Conflict',
    'The filter of the segment changed after this number, so members mean something else. Start anew with since=0',
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
