import type { EntityKind } from '#contract/records.ts'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { findRoot } from '#server/records/entity.ts'
import { findByIdentifier } from '#server/records/lookup.ts'
import type { EntityRecord } from '#server/records/store/entities.ts'

export const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const

/** Finds the entity that an argument names by its id or an identifier. */
export async function requireEntity(
  db: Db,
  orgId: string,
  { entity, kind }: { entity: string; kind?: EntityKind },
): Promise<EntityRecord> {
  const found = isUuid(entity)
    ? await findRoot(db, orgId, entity.toLowerCase())
    : await findByIdentifier(db, orgId, entity, kind)
  if (found === undefined) throw notFound(`Entity ${entity}`)
  return found
}
