import type { EntityKind } from '#contract/records.ts'
import { type Db, isUnavailable, type Store } from '../database/connection/db.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import { createBatcher } from '../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../lib/timing/keyed-batcher.ts'
import type { Answer } from './cell-writes.ts'
import { describeEntities, type EntitySummary } from './entity.ts'
import { findTraced, type Named, type Trace, traceNames } from './lookup.ts'
import { type EventRecord, listEvents } from './store/events.ts'
import { listRelationships, type RelationshipRecord } from './store/relationships.ts'
import { findLargeEntities } from './store/search.ts'

const MAX_RELATIONSHIPS = 100
const MAX_TOGETHER = 200
const AT_ONCE = 2
/** Bytes stored about an entity, beyond which it is looked up alone: all others of its batch would wait for it. */
const MAX_BYTES_TOGETHER = 64 * 1024

export type Query = {
  kind: EntityKind
  identifier: string
  /** Every type where there are none. */
  eventTypes: readonly string[]
  limit: number
}
type Found = Extract<Named, { kind: 'found' }>
type Traced = { query: Query; trace: Trace }
type Result = Answer<ReturnType<typeof print> | null>

/** Returns what is known about an entity, in a shape that tokens reach into; null where there is none. */
export type LookupCell = (orgId: string, query: Query) => Promise<Result>

/** Looks up what rows ask for. Rows of one organisation that ask at the same time share their statements. */
export function createCellLookup(store: Store): LookupCell {
  const lookUpTogether = createKeyedBatcher<{ orgId: string; query: Query }, Result | 'alone'>({
    keyOf: ({ orgId }) => orgId,
    make({ orgId }) {
      const db = store.org(orgId)
      return createBatcher<{ query: Query }, Result | 'alone'>({
        maxItems: MAX_TOGETHER,
        maxInFlight: AT_ONCE,
        isolates: (cause) => !isUnavailable(cause),
        run: (items) =>
          lookUpBatch(
            db,
            orgId,
            items.map(({ query }) => query),
          ),
      })
    },
  })
  return async (orgId, query) => {
    const found = await lookUpTogether({ orgId, query })
    if (found !== 'alone') return found
    const [alone] = await lookUpBatch(store.org(orgId), orgId, [query])
    if (alone === undefined || alone === 'alone') throw new Error('a record was not looked up')
    return alone
  }
}

/** Looks up several, but for entities about which much is stored: these are left to be looked up alone. */
async function lookUpBatch(db: Db, orgId: string, queries: readonly Query[]): Promise<(Result | 'alone')[]> {
  const asked = queries.map(({ identifier, kind }) => ({ text: identifier, kinds: [kind] }))
  const traces = await traceNames(db, orgId, asked)
  const traced = queries.flatMap((query, n) => {
    const trace = traces[n]
    return trace === undefined ? [] : [{ query, trace }]
  })
  const ids = traces.flatMap((trace) => (trace.kind === 'lead' ? [trace.entityId] : []))
  const large =
    queries.length === 1 || ids.length === 0
      ? new Set<string>()
      : await findLargeEntities(db, orgId, ids, MAX_BYTES_TOGETHER)
  const small = traced.filter(({ trace }) => trace.kind !== 'lead' || !large.has(trace.entityId))
  const results = await lookUp(db, orgId, small)
  return traced.map((one) => results.get(one) ?? 'alone')
}

async function lookUp(db: Db, orgId: string, traced: readonly Traced[]): Promise<Map<Traced, Result>> {
  const results = new Map<Traced, Result>()
  const named = await findTraced(
    db,
    orgId,
    traced.map(({ trace }) => trace),
  )
  const found: { asked: Traced; entity: Found['entity'] }[] = []
  for (const [n, asked] of traced.entries()) {
    const one = named[n]
    if (one?.kind === 'found') found.push({ asked, entity: one.entity })
    else if (one?.kind === 'absent') results.set(asked, { ok: true, value: null })
    else if (one !== undefined) results.set(asked, { ok: false, message: `identifier: ${one.message}` })
  }
  if (found.length === 0) return results
  const roots = found.map(({ entity }) => entity)
  const summaries = await describeEntities(db, orgId, roots)
  const relationships = await listRelationships(
    db,
    orgId,
    roots.map(({ entity_id }) => entity_id),
    MAX_RELATIONSHIPS,
  )
  const queries = found.map(({ asked: { query }, entity }) => ({
    rootId: entity.entity_id,
    limit: query.limit,
    types: query.eventTypes,
  }))
  const events = await listEvents(db, orgId, queries)
  for (const [n, { asked, entity }] of found.entries()) {
    const summary = summaries[n]
    if (summary === undefined) throw new Error('an entity was not described')
    const value = print(entity, summary, relationships.get(entity.entity_id) ?? [], events[n] ?? [])
    results.set(asked, { ok: true, value })
  }
  return results
}

function print(
  { entity_id, created_at }: Found['entity'],
  summary: EntitySummary,
  relationships: readonly RelationshipRecord[],
  events: readonly EventRecord[],
) {
  const fields = Object.entries(summary.fields)
  return {
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
  }
}
