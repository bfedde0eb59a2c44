import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

// Locks are taken in this order: records lock of the organisation > new identifiers, by key > roots, by id > field
// names > change counter. See server/src/database/README.md, "Locks".

/**
 * `shared` for ingests that merge nothing; `exclusive` for everything that changes the root of an entity or removes an
 * entity.
 */
export type RecordsLock = 'shared' | 'exclusive'

export async function lockRecords(db: Db, orgId: string, lock: RecordsLock): Promise<void> {
  const take = lock === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`
  await sql`select ${take}(hashtextextended(${`records ${orgId}`}, 0))`.execute(db)
}

export type LockedRoot = { entity_id: string; provenance: string }

/** Locks roots in the order of their ids. Returns the origins of their values as JSON. */
export async function lockRoots(db: Db, orgId: string, rootIds: readonly string[]): Promise<LockedRoot[]> {
  const { rows } = await sql<LockedRoot>`
    select root.entity_id, root.provenance::text as provenance
    from unnest(${`{${rootIds.toSorted().join()}}`}::uuid[]) as t (id)
    cross join lateral (
      select entity_id, provenance from record_entities
      where org_id = ${orgId} and entity_id = t.id limit 1 for no key update
    ) as root`.execute(db)
  return rows
}

/**
 * Takes `count` change numbers and returns the number before them. Others of the organisation wait for theirs until the
 * commit.
 */
export async function takeChangeNumbers(db: Db, orgId: string, count: number): Promise<number> {
  const { rows } = await sql<{ last_change: number }>`
    insert into record_counters (org_id, last_change) values (${orgId}, ${count})
    on conflict (org_id) do update set last_change = record_counters.last_change + excluded.last_change
    returning last_change`.execute(db)
  const [counter] = rows
  if (counter === undefined) throw new Error('no change numbers were given')
  return counter.last_change - count
}
