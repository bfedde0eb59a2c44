import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../connection/db.ts'
import { takeChangeNumbers } from './record-locks.ts'

export type Root = { entityId: string; kind: EntityKind; isNew: boolean }

/** What is known about a new entity, where the values of one batch say it all; as JSON. */
export type EntityDocument = { fields: string; provenance: string }
export type Refreshed = { entity_id: string; change_no: number }

/** Stores new entities with what is known about them. All have changed. */
export async function addEntities(
  db: Db,
  orgId: string,
  entities: readonly (Root & EntityDocument)[],
): Promise<Refreshed[]> {
  if (entities.length === 0) return []
  const before = await takeChangeNumbers(db, orgId, entities.length)
  const { rows } = await sql<Refreshed>`
    insert into record_entities (org_id, entity_id, kind, root_id, fields, provenance, change_no)
    select ${orgId}::uuid, id, kind, id, fields::jsonb, provenance::jsonb, ${before}::bigint + place
    from unnest(
      ${entities.map(({ entityId }) => entityId)}::uuid[], ${entities.map(({ kind }) => kind)}::text[],
      ${entities.map(({ fields }) => fields)}::text[], ${entities.map(({ provenance }) => provenance)}::text[]
    ) with ordinality as t (id, kind, fields, provenance, place)
    returning entity_id, change_no`.execute(db)
  return rows
}

/**
 * Writes anew what is known about these roots: for each field the value of the first source in the declared order, then the
 * latest one. Those whose fields changed, and those in `touched`, get a new change number and are answered.
 */
export async function refreshEntities(
  db: Db,
  orgId: string,
  roots: readonly Root[],
  touched: ReadonlySet<string>,
): Promise<Refreshed[]> {
  if (roots.length === 0) return []
  const stored = roots.filter(({ isNew }) => !isNew).map(({ entityId }) => entityId)
  const added = roots.filter(({ isNew }) => isNew).map(({ entityId }) => entityId)
  const before = await takeChangeNumbers(db, orgId, roots.length)
  const { rows } = await sql<Refreshed>`
    with parts as materialized (
      select entity_id, root_id from record_entities where org_id = ${orgId} and root_id = any(${stored}::uuid[])
      union all select id, id from unnest(${added}::uuid[]) as t (id)
    ), best as (
      select distinct on (p.root_id, v.field) p.root_id, v.field, v.value, v.source,
        to_char(v.last_seen at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
      from parts p
      join record_values v on v.org_id = ${orgId} and v.entity_id = p.entity_id
      left join record_sources s on s.org_id = ${orgId} and s.source = v.source
      order by p.root_id, v.field, s.rank nulls last, v.last_seen desc, v.source, v.value_hash
    ), documents as (
      select root_id, jsonb_object_agg(field, value) as fields,
        jsonb_object_agg(field, jsonb_build_object('source', source, 'at', at)) as provenance
      from best group by root_id
    )
    insert into record_entities as e (org_id, entity_id, kind, root_id, fields, provenance, change_no)
    select ${orgId}, root.id, root.kind, root.id, coalesce(d.fields, '{}'), coalesce(d.provenance, '{}'),
      ${before}::bigint + root.place
    from unnest(${roots.map(({ entityId }) => entityId)}::uuid[], ${roots.map(({ kind }) => kind)}::text[])
      with ordinality as root (id, kind, place)
    left join documents d on d.root_id = root.id
    on conflict (org_id, entity_id) do update set
      fields = excluded.fields,
      provenance = excluded.provenance,
      change_no = case when e.fields <> excluded.fields or e.entity_id = any(${[...touched]}::uuid[])
        then excluded.change_no else e.change_no end
    where e.fields <> excluded.fields or e.provenance <> excluded.provenance
      or e.entity_id = any(${[...touched]}::uuid[])
    returning e.entity_id, e.change_no`.execute(db)
  return rows.filter(({ change_no }) => change_no > before)
}

export type EntityRecord = {
  entity_id: string
  kind: EntityKind
  /** The entity that this one was merged into, or itself. */
  root_id: string
  /** JSON, with every digit of its numbers. */
  fields: string
  provenance: Record<string, { source: string; at: string }>
  change_no: number
  created_at: Date
  erased_at: Date | null
}

const COLUMNS = sql`entity_id, kind, root_id, fields::text as fields, provenance, change_no, created_at, erased_at`

export async function findEntities(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
): Promise<EntityRecord[]> {
  const { rows } = await sql<EntityRecord>`
    select ${COLUMNS} from record_entities where org_id = ${orgId} and entity_id = any(${entityIds}::uuid[])
    order by entity_id`.execute(db)
  return rows
}

/** What changed after the change of that number, in the order of the changes: entities, and remains of merged or erased ones. */
export async function listChangedEntities(
  db: Db,
  orgId: string,
  after: number,
  limit: number,
): Promise<EntityRecord[]> {
  const { rows } = await sql<EntityRecord>`
    select ${COLUMNS} from record_entities where org_id = ${orgId} and change_no > ${after}
    order by change_no limit ${limit}`.execute(db)
  return rows
}

export async function listPartIds(db: Db, orgId: string, rootIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    select entity_id from record_entities where org_id = ${orgId} and root_id = any(${rootIds}::uuid[])
    order by entity_id`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}
