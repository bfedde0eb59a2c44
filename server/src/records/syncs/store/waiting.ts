import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { DestinationRecord } from './destinations.ts'
import type { SyncRecord } from './syncs.ts'

/** A destination in a statement: as table columns, or as the values of a known one. */
type Place = { orgId: Part; connectionId: Part; mode: Part; position: Part }
type Part = RawBuilder<unknown>

const IN_TABLE: Place = {
  orgId: sql`d.org_id`,
  connectionId: sql`d.connection_id`,
  mode: sql`d.reentry_mode`,
  position: sql`d.position`,
}

const placeOf = ({ org_id, connection_id, reentry_mode, position }: DestinationRecord): Place => ({
  orgId: sql`${org_id}::uuid`,
  connectionId: sql`${connection_id}::uuid`,
  mode: sql`${reentry_mode}::text`,
  position: sql`${position}::bigint`,
})

/**
 * Tests whether a member `m` was delivered for its current stay, or ever under `suppress`. Deliveries of merged parts
 * under their old ids count too. The limits force lookups by key: these tables grow by thousands of rows between
 * updates of PostgreSQL's statistics.
 */
const wasDelivered = ({ orgId, connectionId, mode }: Place) => sql`(
  select true from record_entities part
  cross join lateral (
    select from segment_deliveries x where x.org_id = ${orgId} and x.connection_id = ${connectionId}
      and x.entity_id = part.entity_id and (${mode} = 'suppress' or x.entered_seq >= m.entered_seq) limit 1
  ) delivered
  where part.org_id = ${orgId} and part.root_id = m.entity_id limit 1)`

/** Tests whether a member failed. Failed members have their own list. */
const hasFailed = ({ orgId, connectionId }: Place) => sql`(
  select true from segment_failures f
  where f.org_id = ${orgId} and f.connection_id = ${connectionId} and f.entity_id = m.entity_id limit 1)`

const isWaiting = (place: Place) => sql`m.is_member and m.entered_seq > ${place.position}
  and ${wasDelivered(place)} is null and ${hasFailed(place)} is null`

const HELD = sql`y.state = 'pending_confirmation' and d.state = 'active' and m.entered_seq <= y.held_through`

export type WaitingCount = {
  sync_id: string
  /** The destination, or null for the whole sync, where a member counts once for any number of destinations. */
  connection_id: string | null
  held: number
  pending: number
}

/**
 * Counts waiting members: held for a decision, or pending for the next cycle. Only of these destinations, only those
 * that have any, and only those that entered up to `through` if given.
 */
export async function countWaiting(
  db: Db,
  orgId: string,
  connectionIds: readonly string[],
  through: number | null = null,
): Promise<WaitingCount[]> {
  const { rows } = await sql<WaitingCount>`
    select d.sync_id, d.connection_id,
      count(distinct m.entity_id) filter (where ${HELD}) as held,
      count(distinct m.entity_id) filter (where not (${HELD})) as pending
    from segment_destinations d
    join segment_syncs y on y.org_id = d.org_id and y.sync_id = d.sync_id
    cross join lateral (
      select m.entity_id, m.entered_seq from segment_members m
      where m.org_id = d.org_id and m.segment_id = y.segment_id and ${isWaiting(IN_TABLE)}
        ${through === null ? sql`` : sql`and m.entered_seq <= ${through}::bigint`} offset 0
    ) m
    where d.org_id = ${orgId} and d.connection_id = any(${connectionIds}::uuid[])
    group by grouping sets ((d.sync_id, d.connection_id), (d.sync_id))`.execute(db)
  return rows
}

export type FailureCount = { connection_id: string; failed: number }

export async function countFailures(
  db: Db,
  orgId: string,
  connectionIds: readonly string[],
): Promise<FailureCount[]> {
  const { rows } = await sql<FailureCount>`select connection_id, count(*) as failed from segment_failures
    where org_id = ${orgId} and connection_id = any(${connectionIds}::uuid[]) group by connection_id`.execute(
    db,
  )
  return rows
}

/** A member with the mapped fields of its destination, as JSON text. */
export type Member = { entity_id: string; entered_seq: number; fields: string }

/** The maximum text size of a batch. It has at least one member. */
const MAX_BATCH_BYTES = 8_000_000

const mapped = (names: readonly string[]) => sql`coalesce((
  select jsonb_object_agg(name, e.fields -> name) from unnest(${names}::text[]) as t (name) where e.fields ? name
), '{}')::text`

/** Lists the next members that may be delivered to a destination, in order of entry. */
export async function listWaiting(
  db: Db,
  { org_id, segment_id }: SyncRecord,
  destination: DestinationRecord,
  limit: number,
): Promise<Member[]> {
  const { mapping, cleared_through } = destination
  const names = [...new Set(mapping.map(({ field }) => field))]
  // The position is given as values, so that PostgreSQL knows the index order and reads only the next entries.
  const { rows } = await sql<Member>`
    with due as materialized (
      select m.entity_id, m.entered_seq from segment_members m
      where m.org_id = ${org_id} and m.segment_id = ${segment_id} and ${isWaiting(placeOf(destination))}
        and m.entered_seq <= ${cleared_through}::bigint
      order by m.entered_seq limit ${sql.lit(limit)}
    ), sized as materialized (
      select due.entity_id, due.entered_seq,
        sum(octet_length(${mapped(names)})) over (order by due.entered_seq) as bytes,
        row_number() over (order by due.entered_seq) as place
      from due join record_entities e on e.org_id = ${org_id} and e.entity_id = due.entity_id
    )
    select sized.entity_id, sized.entered_seq, ${mapped(names)} as fields
    from sized join record_entities e on e.org_id = ${org_id} and e.entity_id = sized.entity_id
    where bytes <= ${MAX_BATCH_BYTES} or place = 1 order by sized.entered_seq`.execute(db)
  return rows
}

/** Finds a member whose delivery failed, in its current state. Returns undefined if it left or has been delivered. */
export async function findUndelivered(
  db: Db,
  { org_id, segment_id }: SyncRecord,
  destination: DestinationRecord,
  entityId: string,
): Promise<Member | undefined> {
  const names = destination.mapping.map(({ field }) => field)
  const { rows } = await sql<Member>`
    select m.entity_id, m.entered_seq, ${mapped(names)} as fields
    from segment_members m
    join record_entities e on e.org_id = ${org_id} and e.entity_id = m.entity_id
    where m.org_id = ${org_id} and m.segment_id = ${segment_id} and m.entity_id = ${entityId}
      and m.is_member and ${wasDelivered(placeOf(destination))} is null`.execute(db)
  return rows[0]
}
