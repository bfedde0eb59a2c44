import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../../database/connection/db.ts'
import { NO_ID } from '../../../lib/ids.ts'

export type SegmentKey = { org_id: string; segment_id: string }

export type SegmentRecord = SegmentKey & {
  name: string
  kind: EntityKind
  filter: unknown
  filter_hash: string
  filter_version: number
  filter_changed_at: Date
  /** The last number of the feed under the previous filter. */
  filter_seq: number
  /**
   * The version of the filter last evaluated for all entities. It is less than `filter_version` while a new filter is
   * evaluated.
   */
  evaluated_version: number
  scanned_id: string | null
  evaluated_change_no: number
  last_seq: number
  pruned_seq: number
  member_count: number
  created_at: Date
  updated_at: Date
}

const COLUMNS = sql`org_id, segment_id, name, kind, filter, filter_hash, filter_version, filter_changed_at, filter_seq,
  evaluated_version, scanned_id, evaluated_change_no, last_seq, pruned_seq, member_count, created_at, updated_at`

export type NewSegment = SegmentKey & { name: string; kind: EntityKind; filter: unknown; filterHash: string }

/** The first number of the feed. It starts after 1, so that 0 can mean a reader without a position. */
const FIRST_SEQ = 1

/** Inserts a segment. Returns false if the name is in use. */
export async function insertSegment(db: Db, segment: NewSegment): Promise<boolean> {
  const { org_id, segment_id, name, kind, filter, filterHash } = segment
  const { numAffectedRows } = await sql`
    insert into record_segments (org_id, segment_id, name, kind, filter, filter_hash, last_seq, pruned_seq, filter_seq,
      evaluated_change_no)
    values (${org_id}, ${segment_id}, ${name}, ${kind}, ${JSON.stringify(filter)}, ${filterHash}, ${FIRST_SEQ},
      ${FIRST_SEQ}, ${FIRST_SEQ}, coalesce((select last_change from record_counters where org_id = ${org_id}), 0))
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

export async function findSegment(
  db: Db,
  { org_id, segment_id }: SegmentKey,
): Promise<SegmentRecord | undefined> {
  const { rows } = await sql<SegmentRecord>`
    select ${COLUMNS} from record_segments where org_id = ${org_id} and segment_id = ${segment_id}`.execute(
    db,
  )
  return rows[0]
}

/** Finds the organisation of a segment, for operators, who only know its id. */
export async function findSegmentOwner(db: Db, segmentId: string): Promise<string | undefined> {
  const { rows } = await sql<{ org_id: string }>`
    select org_id from record_segments where segment_id = ${segmentId}`.execute(db)
  return rows[0]?.org_id
}

/** Locks a segment until the transaction ends: nobody else evaluates, edits or prunes it. */
export async function lockSegment(
  db: Db,
  { org_id, segment_id }: SegmentKey,
): Promise<SegmentRecord | undefined> {
  const { rows } = await sql<SegmentRecord>`
    select ${COLUMNS} from record_segments where org_id = ${org_id} and segment_id = ${segment_id}
    for no key update`.execute(db)
  return rows[0]
}

export async function listSegments(
  db: Db,
  orgId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ segments: SegmentRecord[]; total: number }> {
  const { rows } = await sql<SegmentRecord>`
    select ${COLUMNS} from record_segments where org_id = ${orgId}
    order by segment_id limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(db)
  const counted = await sql<{ total: number }>`
    select count(*) as total from record_segments where org_id = ${orgId}`.execute(db)
  return { segments: rows, total: counted.rows[0]?.total ?? 0 }
}

/**
 * Renames a segment. Returns false if another segment has the name or gets it at the same time; then the transaction
 * can no longer be used.
 */
export async function renameSegment(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  name: string,
): Promise<boolean> {
  const rename = sql`
    update record_segments set name = ${name}, updated_at = now()
    where org_id = ${org_id} and segment_id = ${segment_id}`
  try {
    const { numAffectedRows } = await rename.execute(db)
    return numAffectedRows === 1n
  } catch (cause) {
    if (cause instanceof DatabaseError && cause.constraint === 'record_segments_by_name') return false
    throw cause
  }
}

/** Replaces the filter, which evaluates all entities again. Call it under the lock of the segment. */
export async function replaceFilter(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  { filter, filterHash }: { filter: unknown; filterHash: string },
): Promise<void> {
  await sql`
    update record_segments set filter = ${JSON.stringify(filter)}, filter_hash = ${filterHash},
      filter_version = filter_version + 1, filter_changed_at = now(), filter_seq = last_seq, scanned_id = null,
      updated_at = now()
    where org_id = ${org_id} and segment_id = ${segment_id}`.execute(db)
}

/**
 * Locks a segment against evaluations and new syncs until the transaction ends. It waits for a sync that is being
 * created.
 */
export async function lockSegmentToDelete(db: Db, { org_id, segment_id }: SegmentKey): Promise<boolean> {
  const { rows } = await sql`
    select from record_segments where org_id = ${org_id} and segment_id = ${segment_id} for update`.execute(
    db,
  )
  return rows.length === 1
}

/**
 * Deletes a segment with its members and changes. Call it in a transaction: evaluations wait for its lock and then find
 * nothing.
 */
export async function deleteSegment(db: Db, { org_id, segment_id }: SegmentKey): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from record_segments where org_id = ${org_id} and segment_id = ${segment_id}`.execute(db)
  for (const table of ['segment_members', 'segment_changes']) {
    await sql`delete from ${sql.table(table)} where org_id = ${org_id} and segment_id = ${segment_id}`.execute(
      db,
    )
  }
  return numAffectedRows === 1n
}

/** The progress of an evaluation. */
export type Progress = {
  scan?: { scannedId: string } | 'complete'
  changeNo?: number
  entered: number
  left: number
  lastSeq: number
}

export async function moveSegment(db: Db, segment: SegmentRecord, progress: Progress): Promise<void> {
  const { scan, changeNo, entered, left, lastSeq } = progress
  const scannedId = scan === 'complete' ? null : (scan?.scannedId ?? segment.scanned_id)
  await sql`
    update record_segments set scanned_id = ${scannedId},
      evaluated_version = ${scan === 'complete' ? segment.filter_version : segment.evaluated_version},
      evaluated_change_no = ${changeNo ?? segment.evaluated_change_no}, last_seq = ${lastSeq},
      member_count = member_count + ${entered - left}
    where org_id = ${segment.org_id} and segment_id = ${segment.segment_id}`.execute(db)
}

/** Tests whether segment `s` with the counter `c` of its organisation has anything to evaluate. */
const isDue = (now: Date | null) => sql`(s.evaluated_version < s.filter_version
  or s.evaluated_change_no < coalesce(c.last_change, 0) or exists (select from segment_members m
    where m.org_id = s.org_id and m.segment_id = s.segment_id and m.check_at <= ${now === null ? sql`now()` : sql`${now}::timestamptz`}))`

export async function listOrgsWithDueSegments(db: Db): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`
    select o.org_id from organisations o where exists (
      select from record_segments s left join record_counters c on c.org_id = s.org_id
      where s.org_id = o.org_id and ${isDue(null)})`.execute(db)
  return rows.map(({ org_id }) => org_id)
}

/**
 * Lists segments, after the given id, that have something to evaluate: a new filter, changes, or entities that are due.
 */
export async function listDueSegments(
  db: Db,
  { after, limit, orgId, now }: { after: string | null; limit: number; orgId: string; now: Date | null },
): Promise<SegmentKey[]> {
  const { rows } = await sql<SegmentKey>`
    select s.org_id, s.segment_id from record_segments s
    left join record_counters c on c.org_id = s.org_id
    where s.org_id = ${orgId} and s.segment_id > ${after ?? NO_ID}::uuid
      and ${isDue(now)}
    order by s.segment_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}
