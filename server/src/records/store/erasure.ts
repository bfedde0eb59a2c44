import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Root } from './entities.ts'
import { takeChangeNumbers } from './record-locks.ts'
import { FIELDS_HASH, WIDEN } from './statements.ts'

/**
 * Tests whether a text contains one of the addresses as a whole word: ann@acme.com is neither in joann@acme.com nor in
 * ann@acme.com.au. JSON escapes do not count as letters.
 */
function mentions(column: string, spellings: readonly string[]) {
  const words = spellings.map((spelling) => spelling.replace(/[^\p{L}\p{N}]/gu, (sign) => `\\${sign}`))
  const word = `(?<![a-z0-9._%+-])(${words.join('|')})(?![a-z0-9-]|\\.[a-z0-9])`
  const text = sql`regexp_replace(lower(${sql.ref(column)}::text), '\\\\(u[0-9a-f]{4}|.)', ' ', 'g')`
  return sql`${text} ~ ${word}`
}

/** Lists entities that have the address as an identifier or may mention it. */
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

/** Finds the roots of people and contacts with this address: as an identifier, in an external id, or as a field. */
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
      union select entity_id from record_statements, jsonb_each(fields) as f (field, value)
      where org_id = ${orgId} and entity_id = any(${near}::uuid[])
        and lower(trim(value #>> '{}')) = any(${spellings}::text[])
    ) as found using (entity_id)
    where e.org_id = ${orgId} and e.kind in ('person', 'contact')`.execute(db)
  return rows.map(({ root_id }) => root_id)
}

/** Removes everything about these entities except their ids. Returns the other ends of their relationships. */
export async function eraseEntities(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  const of = (column: string) => sql`org_id = ${orgId} and ${sql.ref(column)} = any(${ids}::uuid[])`
  for (const table of ['record_identifiers', 'record_statements', 'record_events', 'record_addresses']) {
    await sql`delete from ${sql.table(table)} where ${of('entity_id')}`.execute(db)
  }
  const { rows } = await sql<{ from_id: string; to_id: string }>`
    delete from record_relationships where (${of('from_id')}) or (${of('to_id')})
    returning from_id, to_id`.execute(db)
  await sql`delete from record_merges where (${of('kept_id')}) or (${of('merged_id')})`.execute(db)
  await sql`delete from record_separations where (${of('low_id')}) or (${of('high_id')})`.execute(db)
  const before = await takeChangeNumbers(db, orgId, ids.length)
  await sql`
    update record_entities e set root_id = e.entity_id, fields = '{}', provenance = '{}', erased_at = now(),
      change_no = ${before}::bigint + t.place
    from unnest(${ids}::uuid[]) with ordinality as t (id, place)
    where e.org_id = ${orgId} and e.entity_id = t.id`.execute(db)
  const erased = new Set(ids)
  return rows.flatMap(({ from_id, to_id }) => [from_id, to_id]).filter((id) => !erased.has(id))
}

/** Removes values, events and identifiers of other entities that mention the address. Returns the changed entities. */
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
    ), happened as (
      delete from record_events where ${among} and ${mentions('data', spellings)} returning entity_id
    )
    select entity_id from named union all select entity_id from happened`.execute(db)
  const changed = await eraseFields(db, orgId, near, spellings)
  await rebuildAddresses(db, orgId, near)
  return [...rows.map(({ entity_id }) => entity_id), ...changed]
}

/**
 * Removes fields that mention the address. The rest of a statement may equal another statement of the same source, so
 * both are combined. Returns an entity for each removed field.
 */
async function eraseFields(
  db: Db,
  orgId: string,
  near: readonly string[],
  spellings: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<Erased>`
    with mentioned as (
      select s.org_id, s.entity_id, s.source, s.fields_hash, array_agg(f.field) as named
      from record_statements s, jsonb_each(s.fields) as f (field, value)
      where s.org_id = ${orgId} and s.entity_id = any(${near}::uuid[]) and ${mentions('f.value', spellings)}
      group by 1, 2, 3, 4
    )
    delete from record_statements s using mentioned m
    where s.org_id = ${orgId} and s.entity_id = m.entity_id and s.source = m.source and s.fields_hash = m.fields_hash
    returning s.entity_id, s.source, (s.fields - m.named)::text as fields, cardinality(m.named) as named,
      s.first_seen::text, s.last_seen::text`.execute(db)
  await restoreStatements(
    db,
    orgId,
    rows.filter(({ fields }) => fields !== '{}'),
  )
  return rows.flatMap(({ entity_id, named }) => Array.from({ length: named }, () => entity_id))
}

type Erased = {
  entity_id: string
  source: string
  fields: string
  named: number
  first_seen: string
  last_seen: string
}

async function restoreStatements(db: Db, orgId: string, statements: readonly Erased[]): Promise<void> {
  if (statements.length === 0) return
  const column = (name: 'entity_id' | 'source' | 'fields' | 'first_seen' | 'last_seen') =>
    statements.map((statement) => statement[name])
  await sql`
    insert into record_statements as v (org_id, entity_id, source, fields_hash, fields, first_seen, last_seen)
    select ${orgId}::uuid, entity_id, source, ${FIELDS_HASH} as hash, min(fields::text)::jsonb, min(first_seen), max(last_seen)
    from (
      select entity_id, source, fields::jsonb as fields, first_seen, last_seen
      from unnest(
        ${column('entity_id')}::uuid[], ${column('source')}::text[], ${column('fields')}::text[],
        ${column('first_seen')}::timestamptz[], ${column('last_seen')}::timestamptz[]
      ) as t (entity_id, source, fields, first_seen, last_seen)
    ) as kept
    group by entity_id, source, hash
    ${WIDEN}`.execute(db)
}

async function rebuildAddresses(db: Db, orgId: string, ids: readonly string[]): Promise<void> {
  const among = sql`org_id = ${orgId} and entity_id = any(${ids}::uuid[])`
  await sql`delete from record_addresses where ${among}`.execute(db)
  await sql`
    insert into record_addresses (org_id, address, entity_id)
    select distinct ${orgId}::uuid, address, entity_id from (
      select entity_id, identifier as text from record_identifiers where ${among} and identifier_kind <> 'email'
      union all select entity_id, value::text from record_statements, jsonb_each(fields) as f (field, value) where ${among}
      union all select entity_id, data::text from record_events where ${among}
    ) as texts, loam_addresses(texts.text) as address`.execute(db)
}

/** Finds the roots of these entities, in the form needed to refresh them. */
export async function findRootsOf(db: Db, orgId: string, ids: readonly string[]): Promise<Root[]> {
  const { rows } = await sql<Root>`
    select distinct root.entity_id as "entityId", root.kind, false as "isNew"
    from record_entities e join record_entities root on root.org_id = ${orgId} and root.entity_id = e.root_id
    where e.org_id = ${orgId} and e.entity_id = any(${ids}::uuid[]) order by 1`.execute(db)
  return rows
}
