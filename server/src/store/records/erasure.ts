import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { Root } from './entities.ts'
import { takeChangeNumbers } from './record-locks.ts'

/** The address as a word of its own: ann@acme.com is not in joann@acme.com, nor in ann@acme.com.au. */
function mentions(column: string, email: string) {
  const escaped = email.replace(/[^a-z0-9]/g, (sign) => `\\${sign}`)
  const word = `(?<![a-z0-9._%+-])${escaped}(?![a-z0-9-]|\\.[a-z0-9])`
  const text = sql`lower(${sql.ref(column)}::text)`
  return sql`position(${email} in ${text}) > 0 and ${text} ~ ${word}`
}

/** Roots of people and contacts who have this address: as an identifier, inside an external id, or as the value of a field. */
export async function findPeopleWith(db: Db, orgId: string, email: string): Promise<string[]> {
  const { rows } = await sql<{ root_id: string }>`
    select distinct e.root_id from record_entities e
    join (
      select entity_id from record_identifiers where org_id = ${orgId} and ${mentions('identifier', email)}
      union select entity_id from record_values
      where org_id = ${orgId} and lower(value #>> '{}') = ${email}
    ) as found using (entity_id)
    where e.org_id = ${orgId} and e.kind in ('person', 'contact')`.execute(db)
  return rows.map(({ root_id }) => root_id)
}

/** Removes everything about these entities but their ids. Answers the other ends of their relationships. */
export async function eraseEntities(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  const of = (column: string) => sql`org_id = ${orgId} and ${sql.ref(column)} = any(${ids}::uuid[])`
  await sql`delete from record_identifiers where ${of('entity_id')}`.execute(db)
  await sql`delete from record_values where ${of('entity_id')}`.execute(db)
  await sql`delete from record_events where ${of('entity_id')}`.execute(db)
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
  return rows.flatMap(({ from_id, to_id }) => [from_id, to_id]).filter((id) => !ids.includes(id))
}

/** Removes values, events and identifiers of others that mention the address. Answers whose they were. */
export async function eraseMentions(db: Db, orgId: string, email: string): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    with named as (
      delete from record_identifiers where org_id = ${orgId} and ${mentions('identifier', email)} returning entity_id
    ), said as (
      delete from record_values where org_id = ${orgId} and ${mentions('value', email)} returning entity_id
    ), happened as (
      delete from record_events where org_id = ${orgId} and ${mentions('data', email)} returning entity_id
    )
    select entity_id from named union all select entity_id from said union all select entity_id from happened`.execute(
    db,
  )
  return rows.map(({ entity_id }) => entity_id)
}

/** The roots of these entities, as they are refreshed. */
export async function findRootsOf(db: Db, orgId: string, ids: readonly string[]): Promise<Root[]> {
  const { rows } = await sql<Root>`
    select distinct root.entity_id as "entityId", root.kind, false as "isNew"
    from record_entities e join record_entities root on root.org_id = ${orgId} and root.entity_id = e.root_id
    where e.org_id = ${orgId} and e.entity_id = any(${ids}::uuid[]) order by 1`.execute(db)
  return rows
}
