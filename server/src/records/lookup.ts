import { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findRoot } from './entity.ts'
import { IDENTIFIED_BY, normaliseIdentifier } from './identifiers.ts'
import type { EntityRecord } from './store/entities.ts'
import { findIdentifiers, type Identifier, keyOf, listIdentifiers } from './store/identifiers.ts'

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

/** The entity of one of these kinds that a text names, by its id or an identifier in any spelling. */
export async function findNamed(
  db: Db,
  orgId: string,
  text: string,
  kinds: readonly EntityKind[],
): Promise<Named> {
  const given = text.trim()
  if (isUuid(given)) return findById(db, orgId, given.toLowerCase(), kinds)
  const readings = readingsOf(given, kinds)
  if (readings.length === 0) return { kind: 'refused', message: EXPECTED }
  const places = await findIdentifiers(db, orgId, readings)
  const known = readings.filter((reading) => places.get(keyOf(reading))?.rootId)
  const roots = new Set(known.map((reading) => places.get(keyOf(reading))?.rootId ?? ''))
  if (roots.size > 1) {
    return {
      kind: 'refused',
      message: `several entities have the identifier ${given}; say which kind is meant`,
    }
  }
  const [[identifier], [root]] = [known, [...roots]]
  const entity = root === undefined ? undefined : await findRoot(db, orgId, root)
  return entity === undefined || identifier === undefined
    ? { kind: 'absent', readings }
    : { kind: 'found', entity, identifier }
}

async function findById(db: Db, orgId: string, id: string, kinds: readonly EntityKind[]): Promise<Named> {
  const entity = await findRoot(db, orgId, id)
  if (entity === undefined || !kinds.includes(entity.kind)) return { kind: 'absent', readings: [] }
  const [identifier] = (await listIdentifiers(db, orgId, [entity.entity_id], 1)).get(entity.entity_id) ?? []
  return identifier === undefined
    ? { kind: 'refused', message: `entity ${id} has no identifier left` }
    : { kind: 'found', entity, identifier }
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
