import { sql } from 'kysely'
import type { EntityKind, IdentifierKind } from '#contract/records.ts'
import type { Db } from '../connection/db.ts'

/** In its one spelling. */
export type Identifier = { kind: EntityKind; identifierKind: IdentifierKind; identifier: string }

export function keyOf({ kind, identifierKind, identifier }: Identifier): string {
  return `${kind} ${identifierKind} ${identifier}`
}

export function compareIdentifiers(a: Identifier, b: Identifier): number {
  const [left, right] = [keyOf(a), keyOf(b)]
  return left < right ? -1 : Number(left > right)
}

/** `rootId` is null for an entity that is not stored yet. */
export type Place = { entityId: string; rootId: string | null }

const columnsOf = (identifiers: readonly Identifier[]) => sql`unnest(
  ${identifiers.map(({ kind }) => kind)}::text[], ${identifiers.map(({ identifierKind }) => identifierKind)}::text[],
  ${identifiers.map(({ identifier }) => identifier)}::text[])`

type Found = Identifier & Place

/** Where these identifiers lead, by their keys. */
export async function findIdentifiers(
  db: Db,
  orgId: string,
  identifiers: readonly Identifier[],
): Promise<Map<string, Place>> {
  const { rows } = await sql<Found>`
    select i.kind, i.identifier_kind as "identifierKind", i.identifier, i.entity_id as "entityId", e.root_id as "rootId"
    from ${columnsOf(identifiers)} as wanted (kind, identifier_kind, identifier)
    join record_identifiers i on i.org_id = ${orgId} and i.kind = wanted.kind
      and i.identifier_kind = wanted.identifier_kind and i.identifier = wanted.identifier
    left join record_entities e on e.org_id = ${orgId} and e.entity_id = i.entity_id`.execute(db)
  return new Map(rows.map(({ entityId, rootId, ...found }) => [keyOf(found), { entityId, rootId }]))
}

export type NewIdentifier = Identifier & { entityId: string }

/**
 * Adds those that nobody has, and answers their keys. Waits for whoever is adding the same; in the order of the keys, so that
 * nobody waits in a circle.
 */
export async function addIdentifiers(
  db: Db,
  orgId: string,
  identifiers: readonly NewIdentifier[],
): Promise<string[]> {
  const sorted = identifiers.toSorted(compareIdentifiers)
  const { rows } = await sql<Identifier>`
    insert into record_identifiers (org_id, kind, identifier_kind, identifier, entity_id)
    select ${orgId}, kind, identifier_kind, identifier, entity_id
    from unnest(
      ${sorted.map(({ kind }) => kind)}::text[], ${sorted.map(({ identifierKind }) => identifierKind)}::text[],
      ${sorted.map(({ identifier }) => identifier)}::text[], ${sorted.map(({ entityId }) => entityId)}::uuid[]
    ) with ordinality as t (kind, identifier_kind, identifier, entity_id, place)
    order by place
    on conflict do nothing
    returning kind, identifier_kind as "identifierKind", identifier`.execute(db)
  return rows.map(keyOf)
}

/** Identifiers that were added for an entity which turned out to be there already. */
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

/** The identifiers of these roots and of their parts, by root. */
export async function listIdentifiers(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
): Promise<Map<string, Identifier[]>> {
  const { rows } = await sql<Identifier & { rootId: string }>`
    select e.root_id as "rootId", i.kind, i.identifier_kind as "identifierKind", i.identifier
    from record_entities e
    join record_identifiers i on i.org_id = ${orgId} and i.entity_id = e.entity_id
    where e.org_id = ${orgId} and e.root_id = any(${rootIds}::uuid[])
    order by i.identifier_kind, i.identifier`.execute(db)
  return Map.groupBy(rows, ({ rootId }) => rootId)
}
