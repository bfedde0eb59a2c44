import { sql } from 'kysely'
import type { EntityKind, IdentifierKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'

/** A normalised identifier. */
export type Identifier = { kind: EntityKind; identifierKind: IdentifierKind; identifier: string }

export function keyOf({ kind, identifierKind, identifier }: Identifier): string {
  return `${kind} ${identifierKind} ${identifier}`
}

export function compareIdentifiers(a: Identifier, b: Identifier): number {
  const [left, right] = [keyOf(a), keyOf(b)]
  return left < right ? -1 : Number(left > right)
}

/** The entity of an identifier. `rootId` is null if the entity is not stored yet. */
export type Place = { entityId: string; rootId: string | null }

type Found = Identifier & Place

/**
 * Finds the entities of identifiers, by key. Each is looked up separately: imports grow by thousands of entities before
 * PostgreSQL updates its statistics, and a join planned for few rows would read all of them for every batch.
 */
export async function findIdentifiers(
  db: Db,
  orgId: string,
  identifiers: readonly Identifier[],
): Promise<Map<string, Place>> {
  const { rows } = await sql<Found>`
    select wanted.*, i.entity_id as "entityId", e.root_id as "rootId"
    from jsonb_to_recordset(${JSON.stringify(identifiers)}::jsonb)
      as wanted (kind text, "identifierKind" text, identifier text)
    cross join lateral (
      select entity_id from record_identifiers
      where org_id = ${orgId} and identifier = wanted.identifier and identifier_kind = wanted."identifierKind"
        and kind = wanted.kind limit 1
    ) as i
    left join lateral (
      select root_id from record_entities where org_id = ${orgId} and entity_id = i.entity_id limit 1
    ) as e on true`.execute(db)
  return new Map(rows.map(({ entityId, rootId, ...found }) => [keyOf(found), { entityId, rootId }]))
}

export type NewIdentifier = Identifier & { key: string; entityId: string }

/**
 * Adds identifiers that do not exist, and returns their number. It waits for others that add the same identifiers, in
 * the order of keys, so that no deadlock can occur.
 */
export async function addIdentifiers(
  db: Db,
  orgId: string,
  identifiers: readonly NewIdentifier[],
): Promise<number> {
  const sorted = identifiers.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  const records = sorted.map(({ kind: k, identifierKind: t, identifier: v, entityId: i }) => ({ k, t, v, i }))
  const { numAffectedRows } = await sql`
    insert into record_identifiers (org_id, kind, identifier_kind, identifier, entity_id)
    select ${orgId}::uuid, k, t, v, i
    from rows from (jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as (k text, t text, v text, i uuid))
      with ordinality as given (k, t, v, i, n)
    order by n
    on conflict do nothing`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Moves identifiers from a new entity to one that turned out to exist already. */
export async function repointIdentifiers(
  db: Db,
  orgId: string,
  changes: readonly { from: string; to: string }[],
): Promise<void> {
  await sql`
    update record_identifiers i set entity_id = change.target
    from unnest(${changes.map(({ from }) => from)}::uuid[], ${changes.map(({ to }) => to)}::uuid[])
      as change (origin, target)
    where i.org_id = ${orgId} and i.entity_id = change.origin`.execute(db)
}

/** Lists the identifiers of these roots and of their parts, by root. */
export async function listIdentifiers(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
  limit: number | null = null,
): Promise<Map<string, Identifier[]>> {
  const { rows } = await sql<Identifier & { rootId: string }>`
    select root.id as "rootId", i.kind, i.identifier_kind as "identifierKind", i.identifier
    from unnest(${[...new Set(rootIds)]}::uuid[]) as root (id)
    cross join lateral (
      select i.kind, i.identifier_kind, i.identifier from record_entities e
      join record_identifiers i on i.org_id = ${orgId} and i.entity_id = e.entity_id
      where e.org_id = ${orgId} and e.root_id = root.id
      order by i.identifier_kind, i.identifier limit ${sql.lit(limit)}::bigint
    ) as i
    order by i.identifier_kind, i.identifier`.execute(db)
  return Map.groupBy(rows, ({ rootId }) => rootId)
}
