import { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findRoots } from './entity.ts'
import { IDENTIFIED_BY, normaliseIdentifier } from './identifiers.ts'
import type { EntityRecord } from './store/entities.ts'
import { findIdentifiers, type Identifier, keyOf, listIdentifiers, type Place } from './store/identifiers.ts'

const EXPECTED = 'must be the id of an entity, a domain, a LinkedIn URL, an email address or source:id'

/** What a text can mean as an identifier of entities of these kinds. */
function readingsOf(text: string, kinds: readonly EntityKind[]): Identifier[] {
  return kinds.flatMap((kind) =>
    IDENTIFIED_BY[kind].flatMap((identifierKind) => {
      const outcome = normaliseIdentifier(kind, identifierKind, text)
      return 'identifier' in outcome ? [outcome.identifier] : []
    }),
  )
}

/** An entity with an identifier of it; `absent` with what it could be called; or why the text names none. */
export type Named =
  | { kind: 'found'; entity: EntityRecord; identifier: Identifier }
  | { kind: 'absent'; readings: Identifier[] }
  | { kind: 'refused'; message: string }

export type Asked = { text: string; kinds: readonly EntityKind[] }

/** An id that an entity is to be read by, with the identifier that led there; null where the text is the id itself. */
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

/** Finds where texts lead, in their order. Reads nothing of the entities there. */
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

/** Reads the entities to which texts lead. */
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

/** The entity that has this identifier, in any spelling. Several kinds may have one: then `kind` must say which is meant. */
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
