import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { Root } from './entities.ts'
import { takeChangeNumbers } from './record-locks.ts'

/**
 * Whether a text has one of the addresses as a word of its own: ann@acme.com is not in joann@acme.com, nor in
 * ann@acme.com.au. Escapes of JSON are no letters.
 */
function mentions(column: string, spellings: readonly string[]) {
  const words = spellings.map((spelling) => spelling.replace(/[^\p{L}\p{N}]/gu, (sign) => `\\${sign}`))
  const word = `(?<![a-z0-9._%+-])(${words.join('|')})(?![a-z0-9-]|\\.[a-z0-9])`
  const text = sql`regexp_replace(lower(${sql.ref(column)}::text), '\\\\(u[0-9a-f]{4}|.)', ' ', 'g')`
  return sql`${text} ~ ${word}`
}

/** Entities that have the address as an identifier, or may mention it somewhere. */
export async function listNearAddress(
  db: Db,
  orgId: string,
  spellings: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    select entity_id from record_identifiers where org_id = ${orgId} and identifier = any(${spellings}::text[])
    union select entity_id from record_addresses
    where org_id = ${orgId} and address = any(array(
      select address from unnest(${spellings}::text[]) as spelling, loam_addresses(spelling) as address))
    order by 1`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

/** Roots of people and contacts, among these, who have this address: as an identifier, inside an external id, or as a field. */
export async function findPeopleWith(
  db: Db,
  orgId: string,
  near: readonly string[],
  spellings: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ root_id: string }>`
    select distinct e.root_id from record_entities e
    join (
      select entity_id from record_identifiers
      where org_id = ${orgId} and entity_id = any(${near}::uuid[]) and ${mentions('identifier', spellings)}
      union select entity_id from record_values
      where org_id = ${orgId} and entity_id = any(${near}::uuid[])
        and lower(trim(value #>> '{}')) = any(${spellings}::text[])
    ) as found using (entity_id)
    where e.org_id = ${orgId} and e.kind in ('person', 'contact')`.execute(db)
  return rows.map(({ root_id }) => root_id)
}

/** Removes everything about these entities but their ids. Answers the other ends of their relationships. */
export async function eraseEntities(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  const of = (column: string) => sql`org_id = ${orgId} and ${sql.ref(column)} = any(${ids}::uuid[])`
  for (const table of ['record_identifiers', 'record_values', 'record_events', 'record_addresses']) {
    await sql`delete from ${sql.table(table)} where ${of('entity_id')}`.execute(db)
  }
  const { rows } = await sql<{ from_id: string; to_id: string }>`
    delete from record_relationships where (${of('from_id')}) or (${of('to_id')})
    returning from_id, to_id`.execute(db)
  await sql`delete from record_merges where (${of('kept_id')}) or (${of('merged_id')})`.execute(db)
  await sql`delete from record_separations where (${of('low_id')}) or (${of('high_id')})`.execute(db)
  await eraseDeliveryErrors(db, orgId, ids)
  const before = await takeChangeNumbers(db, orgId, ids.length)
  await sql`
    update record_entities e set root_id = e.entity_id, fields = '{}', provenance = '{}', erased_at = now(),
      change_no = ${before}::bigint + t.place
    from unnest(${ids}::uuid[]) with ordinality as t (id, place)
    where e.org_id = ${orgId} and e.entity_id = t.id`.execute(db)
  const erased = new Set(ids)
  return rows.flatMap(({ from_id, to_id }) => [from_id, to_id]).filter((id) => !erased.has(id))
}

/** Why a member could not be delivered may quote its values. Syncs come first, as wherever failures are written. */
async function eraseDeliveryErrors(db: Db, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update segment_syncs set last_import_error = null
    where org_id = ${orgId} and state <> 'paused_error'
      and exists (select from unnest(${ids}::uuid[]) as id where last_import_error ->> 'message' like '%' || id || '%')`.execute(
    db,
  )
  await sql`delete from segment_failures where org_id = ${orgId} and entity_id = any(${ids}::uuid[])`.execute(
    db,
  )
}

/** Removes values, events and identifiers of these others that mention the address. Answers whose they were. */
export async function eraseMentions(
  db: Db,
  orgId: string,
  near: readonly string[],
  spellings: readonly string[],
): Promise<string[]> {
  const among = sql`org_id = ${orgId} and entity_id = any(${near}::uuid[])`
  const { rows } = await sql<{ entity_id: string }>`
    with named as (
      delete from record_identifiers where ${among} and ${mentions('identifier', spellings)} returning entity_id
    ), said as (
      delete from record_values where ${among} and ${mentions('value', spellings)} returning entity_id
    ), happened as (
      delete from record_events where ${among} and ${mentions('data', spellings)} returning entity_id
    )
    select entity_id from named union all select entity_id from said union all select entity_id from happened`.execute(
    db,
  )
  await noteAddressesAnew(db, orgId, near)
  return rows.map(({ entity_id }) => entity_id)
}

async function noteAddressesAnew(db: Db, orgId: string, ids: readonly string[]): Promise<void> {
  const among = sql`org_id = ${orgId} and entity_id = any(${ids}::uuid[])`
  await sql`delete from record_addresses where ${among}`.execute(db)
  await sql`
    insert into record_addresses (org_id, address, entity_id)
    select distinct ${orgId}::uuid, address, entity_id from (
      select entity_id, identifier as text from record_identifiers where ${among} and identifier_kind <> 'email'
      union all select entity_id, value::text from record_values where ${among}
      union all select entity_id, data::text from record_events where ${among}
    ) as said, loam_addresses(said.text) as address`.execute(db)
}

/** The roots of these entities, as they are refreshed. */
export async function findRootsOf(db: Db, orgId: string, ids: readonly string[]): Promise<Root[]> {
  const { rows } = await sql<Root>`
    select distinct root.entity_id as "entityId", root.kind, false as "isNew"
    from record_entities e join record_entities root on root.org_id = ${orgId} and root.entity_id = e.root_id
    where e.org_id = ${orgId} and e.entity_id = any(${ids}::uuid[]) order by 1`.execute(db)
  return rows
}
