import { EntityKind } from '#contract/records.ts'
import { invalid } from '../lib/errors.ts'
import type { Db } from '../store/connection/db.ts'
import type { EntityRecord } from '../store/records/entities.ts'
import { findIdentifiers } from '../store/records/identifiers.ts'
import { findRoot } from './entity.ts'
import { IDENTIFIED_BY, normaliseIdentifier } from './identifiers.ts'

/** The entity that has this identifier, in any spelling. Several kinds may have one: then `kind` must say which is meant. */
export async function findByIdentifier(
  db: Db,
  orgId: string,
  text: string,
  kind?: EntityKind,
): Promise<EntityRecord | undefined> {
  const kinds = kind === undefined ? EntityKind.options : [kind]
  const readings = kinds.flatMap((entityKind) =>
    IDENTIFIED_BY[entityKind].flatMap((identifierKind) => {
      const outcome = normaliseIdentifier(entityKind, identifierKind, text)
      return 'identifier' in outcome ? [outcome.identifier] : []
    }),
  )
  if (readings.length === 0) {
    throw invalid(
      'entity',
      'must be the id of an entity, a domain, a LinkedIn URL, an email address or source:id',
    )
  }
  const places = await findIdentifiers(db, orgId, readings)
  const roots = new Set([...places.values()].flatMap(({ rootId }) => rootId ?? []))
  if (roots.size > 1) {
    throw invalid('kind', `several entities have the identifier ${text}; say which kind is meant`)
  }
  const [root] = roots
  return root === undefined ? undefined : findRoot(db, orgId, root)
}
