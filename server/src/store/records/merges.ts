import { sql } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'
import { takeChangeNumbers } from './record-locks.ts'

export type NewMerge = { keptId: string; mergedId: string; cause: 'identifier' | 'command'; actor: string }

/**
 * Gives the parts of one root to another. Call it under the exclusive records lock, and refresh the kept root after it.
 * The merged one stays, empty, with a change number of its own.
 */
export async function mergeRoots(db: Db, orgId: string, merge: NewMerge): Promise<void> {
  await sql`
    insert into record_merges (org_id, merge_id, kept_id, merged_id, parts, cause, actor)
    select ${orgId}, ${newId()}, ${merge.keptId}, ${merge.mergedId}, array_agg(entity_id order by entity_id),
      ${merge.cause}, ${merge.actor}
    from record_entities where org_id = ${orgId} and root_id = ${merge.mergedId}`.execute(db)
  const before = await takeChangeNumbers(db, orgId, 1)
  await sql`
    update record_entities set root_id = ${merge.keptId}, fields = '{}', provenance = '{}',
      change_no = case when entity_id = ${merge.mergedId} then ${before}::bigint + 1 else change_no end
    where org_id = ${orgId} and root_id = ${merge.mergedId}`.execute(db)
}

export type MergeRecord = {
  merge_id: string
  kept_id: string
  merged_id: string
  cause: string
  actor: string
  at: Date
  undone_at: Date | null
}

/** The merges that an entity, or any part of it, took part in; the latest first. */
export async function listMerges(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
): Promise<MergeRecord[]> {
  const { rows } = await sql<MergeRecord>`
    select merge_id, kept_id, merged_id, cause, actor, at, undone_at from record_merges
    where org_id = ${orgId} and (kept_id = any(${entityIds}::uuid[]) or merged_id = any(${entityIds}::uuid[]))
    order by merge_id desc`.execute(db)
  return rows
}

/** Pairs of roots, among these, of which somebody took parts asunder. */
export async function listSeparations(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
): Promise<[string, string][]> {
  const { rows } = await sql<{ a: string; b: string }>`
    select distinct low.root_id as a, high.root_id as b
    from record_entities low
    join record_separations s on s.org_id = ${orgId} and s.low_id = low.entity_id
    join record_entities high on high.org_id = ${orgId} and high.entity_id = s.high_id
    where low.org_id = ${orgId} and low.root_id = any(${rootIds}::uuid[])
      and high.root_id = any(${rootIds}::uuid[])`.execute(db)
  return rows.map(({ a, b }) => [a, b])
}

/** Forgets that parts of these roots were taken apart. */
export async function joinAgain(
  db: Db,
  orgId: string,
  { keptId, mergedId }: { keptId: string; mergedId: string },
): Promise<void> {
  await sql`
    delete from record_separations s using record_entities low, record_entities high
    where s.org_id = ${orgId} and low.org_id = ${orgId} and high.org_id = ${orgId}
      and low.entity_id = s.low_id and high.entity_id = s.high_id
      and ((low.root_id = ${keptId} and high.root_id = ${mergedId})
        or (low.root_id = ${mergedId} and high.root_id = ${keptId}))`.execute(db)
}

/** Gives `mergedId` back the parts that it brought in and that are still under that root. False: it has no merge to undo. */
export async function undoMerge(
  db: Db,
  orgId: string,
  { mergedId, rootId }: { mergedId: string; rootId: string },
): Promise<boolean> {
  const { rows } = await sql<{ kept_id: string; parts: string[] }>`
    update record_merges set undone_at = now()
    where org_id = ${orgId} and undone_at is null and merge_id = (
      select max(merge_id::text)::uuid from record_merges
      where org_id = ${orgId} and merged_id = ${mergedId} and undone_at is null)
    returning kept_id, parts`.execute(db)
  const [merge] = rows
  if (merge === undefined) return false
  await sql`update record_entities set root_id = ${mergedId}
    where org_id = ${orgId} and root_id = ${rootId} and entity_id = any(${merge.parts}::uuid[])`.execute(db)
  const [low, high] = [merge.kept_id, mergedId].sort()
  await sql`insert into record_separations (org_id, low_id, high_id) values (${orgId}, ${low}, ${high})
    on conflict do nothing`.execute(db)
  return true
}
