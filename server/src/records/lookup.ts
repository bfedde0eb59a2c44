import { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findRoots } from './entity.ts'
import { IDENTIFIED_BY, normaliseIdentifier } from './identifiers.ts'
import type { EntityRecord } from './store/entities.ts'
import { findIdentifiers, type Identifier, keyOf, listIdentifiers, type Place } from './store/identifiers.ts'

const EXPECTED = 'must be the id of an entity, a domain, a LinkedIn URL, an email address or source:id'

/** Returns the identifiers that a text can mean, for entities of these kinds. */
function readingsOf(text: string, kinds: readonly EntityKind[]): Identifier[] {
  return kinds.flatMap((kind) =>
    IDENTIFIED_BY[kind].flatMap((identifierKind) => {
      const outcome = normaliseIdentifier(kind, identifierKind, text)
      return 'identifier' in outcome ? [outcome.identifier] : []
    }),
  )
}

/**
 * The entity that a text names, with an identifier of it; or `absent`, with the identifiers that the text could mean;
 * or the reason why it names none.
 */
export type Named =
  | { kind: 'found'; entity: EntityRecord; identifier: Identifier }
  | { kind: 'absent'; readings: Identifier[] }
  | { kind: 'refused'; message: string }

export type Asked = { text: string; kinds: readonly EntityKind[] }

/**
 * The id of the entity to read, and the identifier that led to it. The identifier is null if the text is the id itself.
 */
type Lead = {
  kind: 'lead'
  entityId: string
  identifier: Identifier | null
  readings: Identifier[]
  kinds: readonly EntityKind[]
}
export type Trace = Lead | Exclude<Named, { kind: 'found' }>

/** Returns the entity of one of these kinds that a text names, by its id or an identifier in any spelling. */
export async function findNamed(
  db: Db,
  orgId: string,
  text: string,
  kinds: readonly EntityKind[],
): Promise<Named> {
  const [named] = await findTraced(db, orgId, await traceNames(db, orgId, [{ text, kinds }]))
  if (named === undefined) throw new Error('a name was not looked up')
  return named
}

/** Finds the entities that texts lead to, in their order, without reading the entities. */
export async function traceNames(db: Db, orgId: string, asked: readonly Asked[]): Promise<Trace[]> {
  const readings = asked.map(({ text, kinds }) => {
    const given = text.trim()
    return isUuid(given) ? [] : readingsOf(given, kinds)
  })
  const all = new Map(readings.flat().map((reading) => [keyOf(reading), reading]))
  const places =
    all.size === 0 ? new Map<string, Place>() : await findIdentifiers(db, orgId, [...all.values()])
  return asked.map((one, n) => traceOf(one, readings[n] ?? [], places))
}

function traceOf({ text, kinds }: Asked, readings: Identifier[], places: ReadonlyMap<string, Place>): Trace {
  const given = text.trim()
  if (isUuid(given))
    return { kind: 'lead', entityId: given.toLowerCase(), identifier: null, readings: [], kinds }
  if (readings.length === 0) return { kind: 'refused', message: EXPECTED }
  const known = readings.filter((reading) => places.get(keyOf(reading))?.rootId)
  const roots = new Set(known.map((reading) => places.get(keyOf(reading))?.rootId ?? ''))
  if (roots.size > 1) {
    return {
      kind: 'refused',
      message: `several entities have the identifier ${given}; say which kind is meant`,
    }
  }
  const [[identifier], [entityId]] = [known, [...roots]]
  return entityId === undefined || identifier === undefined
    ? { kind: 'absent', readings }
    : { kind: 'lead', entityId, identifier, readings, kinds }
}

/** Reads the entities that texts lead to. */
export async function findTraced(db: Db, orgId: string, traces: readonly Trace[]): Promise<Named[]> {
  const leads = traces.filter((trace) => trace.kind === 'lead')
  const roots = await findRoots(db, orgId, [...new Set(leads.map(({ entityId }) => entityId))])
  const unnamed = leads.flatMap(({ identifier, entityId }) => {
    const root = identifier === null ? roots.get(entityId) : undefined
    return root === undefined ? [] : [root.entity_id]
  })
  const identifiers =
    unnamed.length === 0 ? new Map<string, Identifier[]>() : await listIdentifiers(db, orgId, unnamed, 1)
  return traces.map((trace) => {
    if (trace.kind !== 'lead') return trace
    const { entityId, readings, kinds } = trace
    const entity = roots.get(entityId)
    if (entity === undefined || (trace.identifier === null && !kinds.includes(entity.kind)))
      return { kind: 'absent', readings }
    const identifier = trace.identifier ?? identifiers.get(entity.entity_id)?.[0]
    return identifier === undefined
      ? { kind: 'refused', message: `entity ${entityId} has no identifier left` }
      : { kind: 'found', entity, identifier }
  })
}

/**
 * Returns the entity with this identifier, in any spelling. If entities of several kinds have it, `kind` must say which
 * one is meant.
 */
export async function findByIdentifier(
  db: Db,
  orgId: string,
  text: string,
  kind?: EntityKind,
): Promise<EntityRecord | undefined> {
  const named = await findNamed(db, orgId, text, kind === undefined ? EntityKind.options : [kind])
  if (named.kind === 'refused') throw invalid(named.message === EXPECTED ? 'entity' : 'kind', named.message)
  return named.kind === 'found' ? named.entity : undefined
}
