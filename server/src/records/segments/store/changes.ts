import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { NO_ID } from '../../../lib/ids.ts'
import type { SegmentKey, SegmentRecord } from './segments.ts'

export type ChangeKind = 'enter' | 'exit' | 'reenter'
export type NewChange = { entityId: string; kind: ChangeKind }

/** Appends changes to the feed, numbered after the segment's last. Call it under the lock of the segment. */
export async function addChanges(
  db: Db,
  { org_id, segment_id, last_seq, filter_version }: SegmentRecord,
  changes: readonly NewChange[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into segment_changes (org_id, segment_id, seq, entity_id, kind, at, filter_version)
    select ${org_id}, ${segment_id}, ${last_seq}::bigint + place, entity_id, kind, ${now}, ${filter_version}
    from unnest(${changes.map(({ entityId }) => entityId)}::uuid[], ${changes.map(({ kind }) => kind)}::text[])
      with ordinality as t (entity_id, kind, place)`.execute(db)
}

export type SegmentChange = {
  seq: number
  entity_id: string
  kind: ChangeKind
  at: Date
  filter_version: number
}

export async function listChanges(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  { after, limit }: { after: number; limit: number },
): Promise<SegmentChange[]> {
  const { rows } = await sql<SegmentChange>`
    select seq, entity_id, kind, at, filter_version from segment_changes
    where org_id = ${org_id} and segment_id = ${segment_id} and seq > ${after}
    order by seq limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Lists segments, after the given id, whose oldest change is older than the given days. */
export async function listSegmentsToPrune(
  db: Db,
  days: number,
  after: string | null,
  limit: number,
): Promise<SegmentKey[]> {
  const { rows } = await sql<SegmentKey>`
    select s.org_id, s.segment_id from record_segments s
    join segment_changes c on c.org_id = s.org_id and c.segment_id = s.segment_id and c.seq = s.pruned_seq + 1
    where s.segment_id > ${after ?? NO_ID}::uuid
      and c.at < now() - make_interval(days => ${days})
    order by s.segment_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/**
 * Removes the oldest changes, up to the first one that is not older. Returns true if there may be more. Call it under
 * the segment's lock.
 */
export async function pruneChanges(
  db: Db,
  { org_id, segment_id, pruned_seq }: SegmentRecord,
  days: number,
  limit: number,
): Promise<boolean> {
  const { rows } = await sql<{ removed: number }>`
    with oldest as (
      select seq, at from segment_changes
      where org_id = ${org_id} and segment_id = ${segment_id} and seq > ${pruned_seq} order by seq limit ${sql.lit(limit)}
    ), last as (
      select coalesce((select min(seq) - 1 from oldest where at >= now() - make_interval(days => ${days})),
        (select max(seq) from oldest), ${pruned_seq}::bigint) as seq
    ), gone as (
      delete from segment_changes
      where org_id = ${org_id} and segment_id = ${segment_id} and seq <= (select seq from last)
    )
    update record_segments set pruned_seq = (select seq from last)
    where org_id = ${org_id} and segment_id = ${segment_id}
    returning pruned_seq - ${pruned_seq}::bigint as removed`.execute(db)
  return (rows[0]?.removed ?? 0) === limit
}
