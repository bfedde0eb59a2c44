import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import type { Answer } from './cell-writes.ts'
import { describeEntities } from './entity.ts'
import { findNamed } from './lookup.ts'
import { listEvents } from './store/events.ts'
import { listRelationships } from './store/relationships.ts'

const MAX_RELATIONSHIPS = 100

export type Query = {
  kind: EntityKind
  identifier: string
  /** None: all. */
  eventTypes: readonly string[]
  limit: number
}

/** What is known about an entity, in a shape that tokens reach into; null where there is none. */
export async function lookupForCell(db: Db, orgId: string, query: Query) {
  const named = await findNamed(db, orgId, query.identifier, [query.kind])
  if (named.kind === 'refused') return refuse(`identifier: ${named.message}`)
  if (named.kind === 'absent') return { ok: true as const, value: null }
  const { entity_id, created_at } = named.entity
  const [summary] = await describeEntities(db, orgId, [named.entity])
  if (summary === undefined) throw new Error('an entity was not described')
  const fields = Object.entries(summary.fields)
  const relationships = await listRelationships(db, orgId, entity_id, MAX_RELATIONSHIPS)
  const events = await listEvents(db, orgId, entity_id, query.limit, query.eventTypes)
  return {
    ok: true as const,
    value: {
      entity: {
        entity_id,
        kind: summary.kind,
        identifiers: summary.identifiers,
        fields: Object.fromEntries(fields.map(([name, { value }]) => [name, value])),
        provenance: Object.fromEntries(fields.map(([name, { source, at }]) => [name, { source, at }])),
        relationships: relationships.map(({ direction, type, entity_id: other, kind }) => ({
          direction,
          type,
          entity_id: other,
          kind,
        })),
        created_at: created_at.toISOString(),
      },
      events: events.map(({ type, at, source, data }) => ({
        type,
        at: at.toISOString(),
        source,
        data: parseLossless(data),
      })),
    },
  }
}

const refuse = (message: string): Answer<never> => ({ ok: false, message })
