import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import { isObject } from '../lib/json/object.ts'
import { type EntityRecord, findEntities, listPartIds } from './store/entities.ts'
import { listEvents } from './store/events.ts'
import { type Identifier, listIdentifiers } from './store/identifiers.ts'
import { listMerges } from './store/merges.ts'
import { listRelationships } from './store/relationships.ts'
import { listValues } from './store/statements.ts'

const MAX_SHOWN_IDENTIFIERS = 1000
const MAX_RELATIONSHIPS = 1000
const MAX_EVENTS = 100

export type EntitySummary = {
  entity_id: string
  kind: EntityKind
  identifiers: { kind: string; value: string }[]
  fields: Record<string, { value: unknown; source: string; at: string }>
  change_no: number
}

/** Describes entities: each field with the source and time of its value. */
export async function describeEntities(
  db: Db,
  orgId: string,
  roots: readonly EntityRecord[],
): Promise<EntitySummary[]> {
  const identifiers = await listIdentifiers(
    db,
    orgId,
    roots.map(({ entity_id }) => entity_id),
    MAX_SHOWN_IDENTIFIERS,
  )
  return roots.map((root) => ({
    entity_id: root.entity_id,
    kind: root.kind,
    identifiers: (identifiers.get(root.entity_id) ?? []).map(printIdentifier),
    fields: printFields(root),
    change_no: root.change_no,
  }))
}

const printIdentifier = ({ identifierKind, identifier }: Identifier) => ({
  kind: identifierKind,
  value: identifier,
})

function parseFields(json: string): Record<string, unknown> {
  const fields = parseLossless(json)
  if (!isObject(fields)) throw new Error('the fields of an entity are not an object')
  return fields
}

function printFields({ fields, provenance }: EntityRecord): EntitySummary['fields'] {
  const values = Object.entries(parseFields(fields))
  return Object.fromEntries(
    values.map(([name, value]) => [name, { value, ...(provenance[name] ?? { source: '', at: '' }) }]),
  )
}

/**
 * Finds the root of each id: the entity itself, or the one it was merged into. Leaves out those that do not exist or were
 * erased.
 */
export async function findRoots(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
): Promise<Map<string, EntityRecord>> {
  if (entityIds.length === 0) return new Map()
  const found = await findEntities(db, orgId, entityIds)
  const records = new Map(found.map((record) => [record.entity_id, record]))
  const moved = found.flatMap(({ root_id }) => (records.has(root_id) ? [] : [root_id]))
  if (moved.length > 0)
    for (const record of await findEntities(db, orgId, moved)) records.set(record.entity_id, record)
  return new Map(
    found.flatMap(({ entity_id, root_id }) => {
      const root = records.get(root_id)
      return root === undefined || root.erased_at !== null ? [] : [[entity_id, root]]
    }),
  )
}

/**
 * Finds the root of an id: the entity itself, or the one it was merged into. Returns undefined if it does not exist or
 * was erased.
 */
export async function findRoot(db: Db, orgId: string, entityId: string): Promise<EntityRecord | undefined> {
  return (await findRoots(db, orgId, [entityId])).get(entityId)
}

/** Describes one entity completely: identifiers, fields, relationships, latest events. */
export async function describeEntity(db: Db, orgId: string, root: EntityRecord) {
  const [summary] = await describeEntities(db, orgId, [root])
  if (summary === undefined) throw new Error('an entity was not described')
  const rootId = root.entity_id
  const relationships = await listRelationships(db, orgId, [rootId], MAX_RELATIONSHIPS)
  const [events = []] = await listEvents(db, orgId, [{ rootId, limit: MAX_EVENTS }])
  return {
    ...summary,
    relationships: relationships.get(rootId) ?? [],
    events: events.map((event) => ({ ...event, data: parseLossless(event.data) })),
    created_at: root.created_at,
  }
}

/** Lists every value that a source gave for a field, with its first and last time, and the merges of the entity. */
export async function describeHistory(db: Db, orgId: string, root: EntityRecord) {
  const values = await listValues(db, orgId, root.entity_id)
  const { provenance, fields } = root
  const current = parseFields(fields)
  const isCurrent = (field: string, source: string, value: string) =>
    provenance[field]?.source === source &&
    JSON.stringify(current[field]) === JSON.stringify(parseLossless(value))
  return {
    entity_id: root.entity_id,
    values: values.map((row) => ({
      ...row,
      value: parseLossless(row.value),
      current: isCurrent(row.field, row.source, row.value),
    })),
    merges: await listMerges(db, orgId, await listPartIds(db, orgId, [root.entity_id])),
  }
}
