import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'
import { takeChangeNumbers } from './record-locks.ts'

export type NewMerge = { keptId: string; mergedId: string }

/**
 * Moves the parts of roots to other roots. No root may be both kept and merged. Call it under the exclusive records
 * lock, and refresh the kept roots afterwards. Merged entities stay, empty, with new change numbers.
 */
export async function mergeRoots(
  db: Db,
  orgId: string,
  merges: readonly NewMerge[],
  { cause, actor }: { cause: 'identifier' | 'command'; actor: string },
): Promise<void> {
  if (merges.length === 0) return
  const [kept, merged] = [merges.map(({ keptId }) => keptId), merges.map(({ mergedId }) => mergedId)]
  await sql`
    insert into record_merges (org_id, merge_id, kept_id, merged_id, parts, cause, actor)
    select ${orgId}, m.merge_id, m.kept_id, m.merged_id, array_agg(e.entity_id order by e.entity_id), ${cause}, ${actor}
    from unnest(${merges.map(() => newId())}::uuid[], ${kept}::uuid[], ${merged}::uuid[])
      as m (merge_id, kept_id, merged_id)
    join record_entities e on e.org_id = ${orgId} and e.root_id = m.merged_id
    group by m.merge_id, m.kept_id, m.merged_id`.execute(db)
  const before = await takeChangeNumbers(db, orgId, merges.length)
  await sql`
    update record_entities e set root_id = m.kept_id, fields = '{}', provenance = '{}',
      change_no = case when e.entity_id = m.merged_id then ${before}::bigint + m.place else e.change_no end
    from unnest(${kept}::uuid[], ${merged}::uuid[]) with ordinality as m (kept_id, merged_id, place)
    where e.org_id = ${orgId} and e.root_id = m.merged_id`.execute(db)
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

/** Lists the merges of an entity or any of its parts, latest first. */
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

/** Lists pairs of these roots that a user has separated. */
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

/** Removes the separation of these two roots. */
export async function removeSeparation(
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

/**
 * Gives `mergedId` back the parts that it brought in and that are still under that root. Returns false if it has no
 * merge to undo.
 */
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
