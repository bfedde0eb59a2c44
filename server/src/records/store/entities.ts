import { sql } from 'kysely'
import { type EntityKind, MAX_ENTITY_BYTES } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'
import { AppError } from '../../lib/errors.ts'
import { takeChangeNumbers } from './record-locks.ts'
import { FIELDS_HASH } from './statements.ts'

export type Root = { entityId: string; kind: EntityKind; isNew: boolean }
export type Refreshed = { entity_id: string; change_no: number }
type Sized = { entity_id: string; bytes: number }

/** Thrown when an entity exceeds its size limit. Readers load entities whole, and many at once. */
export class EntityTooLarge extends AppError {}

function refuseTooLarge(written: readonly Sized[]): void {
  const large = written.find(({ bytes }) => bytes > MAX_ENTITY_BYTES)
  if (large === undefined) return
  const most = `${MAX_ENTITY_BYTES / 1024 ** 2} MiB`
  throw new EntityTooLarge(
    'Conflict',
    `Entity ${large.entity_id} would have fields of more than ${most}, which is the limit; send shorter values or fewer fields`,
  )
}

/** A new entity with the fields of its one record as JSON. `at` is null if it has no fields. */
export type NewEntity = {
  entityId: string
  kind: EntityKind
  fields: string
  provenance: string
  at: string | null
}

/** Stores new entities with their first statements. None can exist yet, so it looks for none. */
export async function addEntities(
  db: Db,
  orgId: string,
  source: string,
  entities: readonly NewEntity[],
): Promise<void> {
  if (entities.length === 0) return
  const records = entities.map(
    ({ entityId, kind, fields, provenance, at }) =>
      `{"i":"${entityId}","k":"${kind}","f":${fields},"p":${provenance},"a":${at === null ? 'null' : `"${at}"`}}`,
  )
  const before = await takeChangeNumbers(db, orgId, entities.length)
  await sql`
    with given as (
      select i, k, f as fields, p, a, n
      from rows from (
        jsonb_to_recordset(${`[${records.join()}]`}::jsonb) as (i uuid, k text, f jsonb, p jsonb, a timestamptz)
      ) with ordinality as t (i, k, f, p, a, n)
    ), said as (
      insert into record_statements (org_id, entity_id, source, fields_hash, fields, first_seen, last_seen)
      select ${orgId}::uuid, i, ${source}, ${FIELDS_HASH}, fields, a, a from given where a is not null
    )
    insert into record_entities (org_id, entity_id, kind, root_id, fields, provenance, change_no)
    select ${orgId}::uuid, i, k, i, fields, p, ${before}::bigint + n from given`.execute(db)
}

/** The fields of an entity with a new value or origin, as JSON objects. */
export type Patch = { entityId: string; fields: string; provenance: string }

/**
 * Writes changes of entities that the caller has locked. Entities with changed fields and those in `touched` get a new
 * change number and are returned.
 */
export async function patchEntities(
  db: Db,
  orgId: string,
  patches: readonly Patch[],
  touched: ReadonlySet<string>,
): Promise<string[]> {
  // Most values are only confirmed, which needs no change number: then nobody waits for the counter.
  const confirmed = await writePatches(
    db,
    orgId,
    patches.filter(({ entityId }) => !touched.has(entityId)),
    null,
  )
  const changed = patches.filter(({ entityId }) => !confirmed.has(entityId))
  if (changed.length === 0) return []
  const before = await takeChangeNumbers(db, orgId, changed.length)
  await writePatches(db, orgId, changed, before)
  return changed.map(({ entityId }) => entityId)
}

/**
 * Writes patches. Without change numbers it only writes entities whose fields stay equal. Returns the written entities.
 * The rows are locked, so their ctid cannot change.
 */
async function writePatches(
  db: Db,
  orgId: string,
  patches: readonly Patch[],
  before: number | null,
): Promise<Set<string>> {
  if (patches.length === 0) return new Set()
  const records = patches.map(
    ({ entityId, fields, provenance }) => `{"i":"${entityId}","f":${fields},"p":${provenance}}`,
  )
  const { rows } = await sql<Sized>`
    update record_entities e set fields = e.fields || patch.f, provenance = e.provenance || patch.p
      ${before === null ? sql`` : sql`, change_no = ${before}::bigint + patch.n`}
    from (
      select t.f, t.p, t.n, stored.place
      from rows from (jsonb_to_recordset(${`[${records.join()}]`}::jsonb) as (i uuid, f jsonb, p jsonb))
        with ordinality as t (i, f, p, n)
      cross join lateral (
        select ctid as place from record_entities where org_id = ${orgId} and entity_id = t.i limit 1
      ) as stored
    ) as patch
    where e.ctid = patch.place ${before === null ? sql`and e.fields || patch.f = e.fields` : sql``}
    returning e.entity_id, pg_column_size(e.fields) as bytes`.execute(db)
  refuseTooLarge(rows)
  return new Set(rows.map(({ entity_id }) => entity_id))
}

/**
 * Rewrites the fields of these roots: for each field the value of the first source in the declared order, then the
 * latest one. Entities with changed fields and those in `touched` get a new change number and are returned.
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
  const { rows } = await sql<Refreshed & Sized>`
    with parts as materialized (
      select entity_id, root_id from record_entities where org_id = ${orgId} and root_id = any(${stored}::uuid[])
      union all select id, id from unnest(${added}::uuid[]) as t (id)
    ), best as (
      select distinct on (p.root_id, f.field) p.root_id, f.field, f.value, v.source,
        to_char(v.last_seen at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
      from parts p
      join record_statements v on v.org_id = ${orgId} and v.entity_id = p.entity_id
      cross join jsonb_each(v.fields) as f (field, value)
      left join record_sources s on s.org_id = ${orgId} and s.source = v.source
      order by p.root_id, f.field, s.rank nulls last, v.last_seen desc, v.source, f.value::text collate "C"
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
    returning e.entity_id, e.change_no, pg_column_size(e.fields) as bytes`.execute(db)
  refuseTooLarge(rows)
  return rows.filter(({ change_no }) => change_no > before)
}

export type EntityRecord = {
  entity_id: string
  kind: EntityKind
  /** The entity that this one was merged into, or the entity itself. */
  root_id: string
  /** The fields as JSON, with every digit of their numbers. */
  fields: string
  provenance: Record<string, { source: string; at: string }>
  change_no: number
  created_at: Date
  erased_at: Date | null
}

const COLUMNS = sql`entity_id, kind, root_id, fields::text as fields, provenance, change_no, created_at, erased_at`

/** Returns these entities. Each is looked up by itself, for the reason that `findIdentifiers` gives. */
export async function findEntities(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
): Promise<EntityRecord[]> {
  const { rows } = await sql<EntityRecord>`
    select found.* from unnest(${[...new Set(entityIds)]}::uuid[]) as wanted (id)
    cross join lateral (
      select ${COLUMNS} from record_entities where org_id = ${orgId} and entity_id = wanted.id limit 1
    ) found
    order by found.entity_id`.execute(db)
  return rows
}

/** Lists changes after a change number, in order: entities, and remains of merged or erased ones. */
export async function listChangedEntities(
  db: Db,
  orgId: string,
  after: number,
  limit: number,
): Promise<EntityRecord[]> {
  const { rows } = await sql<EntityRecord>`
    select ${COLUMNS} from record_entities where org_id = ${orgId} and change_no > ${after}
    order by change_no limit ${sql.lit(limit)}`.execute(db)
  return rows
}

export async function listPartIds(db: Db, orgId: string, rootIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    select entity_id from record_entities where org_id = ${orgId} and root_id = any(${rootIds}::uuid[])
    order by entity_id`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}
