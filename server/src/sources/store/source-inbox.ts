import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SourceKey } from './sources.ts'

export type Arrival = SourceKey & { sealed: string }
export type InboxItem = { item_no: number; at: Date; sealed: string }

/**
 * The maximum number of items waiting for a source. More are dropped: a flood must not fill the disk while no worker
 * runs.
 */
export const MAX_WAITING = 10_000

/**
 * Stores what arrived for active sources, under their locks. Returns the sources that were idle before: the caller must
 * queue their job in the same transaction.
 */
export async function storeArrivals(trx: Db, arrivals: readonly Arrival[]): Promise<SourceKey[]> {
  const ids = [...new Set(arrivals.map(({ instance_id }) => instance_id))]
  const { rows: open } = await sql<SourceKey & { idle: boolean }>`
    select org_id, instance_id, next_pull_at is null as idle from sources
    where instance_id = any(${ids}::uuid[]) and status = 'active'
    -- In a fixed order, so that two batches cannot deadlock.
    order by instance_id for no key update`.execute(trx)
  const { rows: stored } = await sql<{ instance_id: string }>`
    with room as (
      select org_id, instance_id, ${MAX_WAITING} - (
        select count(*) from (
          select from source_inbox i where i.org_id = s.org_id and i.instance_id = s.instance_id limit ${sql.lit(MAX_WAITING)}) w
      ) as free
      from sources s where instance_id = any(${open.map(({ instance_id }) => instance_id)}::uuid[])
    ), new as (
      select t.instance_id, t.sealed, t.n, row_number() over (partition by t.instance_id order by t.n) as place
      from rows from (jsonb_to_recordset(${JSON.stringify(arrivals)}::jsonb) as (instance_id uuid, sealed text))
        with ordinality as t (instance_id, sealed, n)
    ), added as (
      insert into source_inbox (org_id, instance_id, sealed)
      select r.org_id, r.instance_id, n.sealed from new n join room r using (instance_id)
      where n.place <= r.free order by n.n
      returning org_id, instance_id
    )
    update sources s set received_count = received_count + a.count, received_at = now(),
      next_pull_at = coalesce(next_pull_at, now())
    from (select org_id, instance_id, count(*) as count from added group by org_id, instance_id) a
    where s.org_id = a.org_id and s.instance_id = a.instance_id
    returning s.instance_id`.execute(trx)
  const taken = new Set(stored.map(({ instance_id }) => instance_id))
  return open.filter(({ idle, instance_id }) => idle && taken.has(instance_id))
}

/** Lists the oldest waiting items. */
export async function listInbox(
  db: Db,
  { org_id, instance_id }: SourceKey,
  limit: number,
): Promise<InboxItem[]> {
  return db
    .selectFrom('source_inbox')
    .select(['item_no', 'at', 'sealed'])
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .orderBy('item_no')
    .limit(sql.lit(limit))
    .execute()
}

/** Removes items and returns those that still existed. */
export async function takeFromInbox(
  trx: Db,
  { org_id, instance_id }: SourceKey,
  itemNos: readonly number[],
): Promise<Set<number>> {
  if (itemNos.length === 0) return new Set()
  const taken = await trx
    .deleteFrom('source_inbox')
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('item_no', 'in', [...itemNos])
    .returning('item_no')
    .execute()
  return new Set(taken.map(({ item_no }) => item_no))
}

/** Counts the waiting items, up to the maximum. */
export async function countInbox(db: Db, { org_id, instance_id }: SourceKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select from source_inbox
      where org_id = ${org_id} and instance_id = ${instance_id} limit ${sql.lit(MAX_WAITING)}) w`.execute(db)
  return rows[0]?.count ?? 0
}

export async function addUnresolved(
  trx: Db,
  { org_id, instance_id }: SourceKey,
  count: number,
): Promise<void> {
  if (count === 0) return
  await sql`update sources set unresolved_count = unresolved_count + ${count}
    where org_id = ${org_id} and instance_id = ${instance_id}`.execute(trx)
}

/** Records visits as counted and returns those that were new. */
export async function claimVisits(
  trx: Db,
  { org_id, instance_id }: SourceKey,
  visits: readonly string[],
): Promise<Set<string>> {
  const different = [...new Set(visits)].sort()
  if (different.length === 0) return new Set()
  const { rows } = await sql<{ visit: string }>`
    insert into source_visits (org_id, instance_id, visit)
    select ${org_id}, ${instance_id}, v from unnest(${different}::text[]) as t (v)
    on conflict (org_id, instance_id, visit) do nothing returning visit`.execute(trx)
  return new Set(rows.map(({ visit }) => visit))
}
