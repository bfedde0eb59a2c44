import type { Db } from '../../database/connection/db.ts'
import { takeTurn } from '../../lib/timing/fair-turns.ts'
import { lookUpByKey } from '../../sources/store/source-records.ts'
import { type Filter, otherEnd, parseFilter } from './filter.ts'
import { judgeEntities, type Standing as Judged } from './judge-entities.ts'
import { addChanges, type ChangeKind } from './store/changes.ts'
import { markRelated } from './store/facts.ts'
import {
  findKnown,
  forgetCandidates,
  listChangedSince,
  listDue,
  readClock,
  readLastChange,
  scanEntities,
  type Standing,
  writeStandings,
} from './store/members.ts'
import {
  listDueSegments,
  lockSegment,
  moveSegment,
  type Progress,
  type SegmentKey,
  type SegmentRecord,
} from './store/segments.ts'

const BATCH = 1000
/** The batch size of a full scan. Most entities are no members and cost little. */
const SCAN_BATCH = 5000
const SEGMENTS_AT_ONCE = 500
/** The maximum number of relationships of the entities in one batch. Otherwise the batch gets smaller. */
const MAX_RELATED = 50_000
const SHRINK = 8

export type EvaluateOptions = {
  /** The time, instead of the database's clock. */
  now?: Date
  /** The number of entities evaluated in one transaction. */
  batch?: number
  /** The maximum number of relationships evaluated in one transaction, unless a single entity has more. */
  maxRelated?: number
  /** Tells whether to stop after the current batch. Another call continues. */
  isOver?: () => boolean
  /** Stops within the batch, which is then lost. An entity with very many relationships takes long. */
  signal?: AbortSignal
}

/** Thrown when a batch is too large for one transaction. */
class BatchTooLarge extends Error {
  override name = 'BatchTooLarge'
}

/**
 * Updates the members of a segment, or of all segments of an organisation, for changed entities and for elapsed time.
 * Each batch is a transaction under the segment's lock, so several callers can share the work, and a killed one only
 * loses an uncommitted batch. Returns true if everything is up to date.
 */
export async function evaluateSegments(
  db: Db,
  orgId: string,
  segmentId?: string,
  options: EvaluateOptions = {},
): Promise<boolean> {
  if (segmentId !== undefined) return evaluateSegment(db, { org_id: orgId, segment_id: segmentId }, options)
  for (let after: string | null | undefined = null; after !== undefined;) {
    const due: SegmentKey[] = await listDueSegments(db, {
      after,
      limit: SEGMENTS_AT_ONCE,
      orgId,
      now: options.now ?? null,
    })
    for (const key of due) if (!(await evaluateSegment(db, key, options))) return false
    after = due.at(-1)?.segment_id
  }
  return true
}

async function evaluateSegment(db: Db, key: SegmentKey, options: EvaluateOptions): Promise<boolean> {
  let batch = options.batch ?? SCAN_BATCH
  for (;;) {
    const work = () => db.transaction().execute((trx) => evaluateBatch(trx, key, { ...options, batch }))
    try {
      if (!(await takeTurn(key.org_id, work))) return true
      batch = Math.min(options.batch ?? SCAN_BATCH, 2 * batch)
      if (options.isOver?.() === true) return false
    } catch (cause) {
      if (options.signal?.aborted === true && cause === options.signal.reason) return false
      if (!(cause instanceof BatchTooLarge)) throw cause
      batch = Math.ceil(batch / SHRINK)
    }
  }
}

/** The entities of a batch, and the progress of the segment after it. */
type Task = { ids: string[]; progress: Pick<Progress, 'scan' | 'changeNo'> }

/** Evaluates one batch. Returns false if there is nothing more to do. */
async function evaluateBatch(
  trx: Db,
  key: SegmentKey,
  options: EvaluateOptions & { batch: number },
): Promise<boolean> {
  await lookUpByKey(trx)
  const segment = await lockSegment(trx, key)
  if (segment === undefined) return false
  const now = options.now ?? (await readClock(trx))
  const filter = readFilter(segment)
  const task = await nextTask(trx, segment, filter, { now, batch: options.batch })
  if (task === undefined) return false
  let related = 0
  const onRelated = (count: number) => {
    options.signal?.throwIfAborted()
    related += count
    if (related > (options.maxRelated ?? MAX_RELATED) && task.ids.length > 1) throw new BatchTooLarge()
  }
  const question = { orgId: segment.org_id, kind: segment.kind, filter, now, onRelated }
  const verdicts =
    task.ids.length === 0 ? new Map<string, Judged>() : await judgeEntities(trx, question, task.ids)
  const counts = await recordVerdicts(trx, segment, { ids: task.ids, verdicts }, now)
  await moveSegment(trx, segment, { ...task.progress, ...counts })
  return true
}

export function readFilter({ segment_id, filter }: SegmentRecord): Filter {
  const parsed = parseFilter(filter)
  if (!parsed.ok) throw new Error(`the stored filter of segment ${segment_id} cannot be read`)
  return parsed.value
}

/** Chooses the next entities: first all, once for each filter; then changed ones; then those that are due by time. */
async function nextTask(
  db: Db,
  segment: SegmentRecord,
  filter: Filter,
  { now, batch }: { now: Date; batch: number },
): Promise<Task | undefined> {
  const { org_id, kind } = segment
  const limit = Math.min(batch, BATCH)
  if (segment.evaluated_version < segment.filter_version) {
    const page = await scanEntities(db, org_id, segment.scanned_id, batch)
    const last = page.at(-1)
    const ids = page.filter((one) => one.is_root && one.kind === kind).map(({ entity_id }) => entity_id)
    return { ids, progress: { scan: last === undefined ? 'complete' : { scannedId: last.entity_id } } }
  }
  const upTo = await readLastChange(db, org_id)
  if (segment.evaluated_change_no < upTo) {
    const window = { after: segment.evaluated_change_no, upTo, limit }
    const changed = await listChangedSince(db, org_id, window)
    await markFollowers(db, segment, filter, changed)
    const last = changed.length < limit ? upTo : changed.at(-1)?.change_no
    const ids = changed.filter((one) => one.kind === kind).map(({ entity_id }) => entity_id)
    return { ids, progress: { changeNo: last ?? upTo } }
  }
  const ids = await listDue(db, segment, now, limit)
  return ids.length === 0 ? undefined : { ids, progress: {} }
}

/** Marks entities to be evaluated again: if the filter follows relationships, a change also affects the other end. */
async function markFollowers(
  db: Db,
  segment: SegmentRecord,
  filter: Filter,
  changed: readonly { entity_id: string; kind: string }[],
): Promise<void> {
  for (const condition of filter.flatMap(({ conditions }) => conditions)) {
    if (!('relationship' in condition)) continue
    const { kind, direction } = otherEnd(condition)
    const ids = changed.filter((one) => one.kind === kind).map(({ entity_id }) => entity_id)
    if (ids.length === 0) continue
    await markRelated(db, segment, ids, { type: condition.relationship, direction })
  }
}

/** Writes entries, exits and the next check times. Unchanged members are not written. */
async function recordVerdicts(
  db: Db,
  segment: SegmentRecord,
  { ids, verdicts }: { ids: readonly string[]; verdicts: ReadonlyMap<string, Judged> },
  now: Date,
): Promise<{ entered: number; left: number; lastSeq: number }> {
  const known = new Map((await findKnown(db, segment, ids)).map((one) => [one.entity_id, one]))
  const standings: Standing[] = []
  const forgotten: string[] = []
  const changes: { entityId: string; kind: ChangeKind }[] = []
  for (const entityId of ids) {
    const { holds, changesAt } = verdicts.get(entityId) ?? { holds: false, changesAt: null }
    const before = known.get(entityId)
    const enters = holds && before?.is_member !== true
    const leaves = !holds && before?.is_member === true
    if (enters) changes.push({ entityId, kind: before?.was_member === true ? 'reenter' : 'enter' })
    if (leaves) changes.push({ entityId, kind: 'exit' })
    const isKept = holds || changesAt !== null || before?.was_member === true
    if (!isKept) {
      if (before !== undefined) forgotten.push(entityId)
    } else if (enters || leaves || before?.check_at !== changesAt) {
      const checkAt = changesAt === null ? null : new Date(changesAt)
      const enteredSeq = enters ? segment.last_seq + changes.length : null
      standings.push({ entityId, isMember: holds, enteredSeq, checkAt })
    }
  }
  await writeStandings(db, segment, standings, now)
  await forgetCandidates(db, segment, forgotten)
  await addChanges(db, segment, changes, now)
  const left = changes.filter(({ kind }) => kind === 'exit').length
  return { entered: changes.length - left, left, lastSeq: segment.last_seq + changes.length }
}
