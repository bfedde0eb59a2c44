import { z } from 'zod'
import { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { type Answer, WORKFLOW_SOURCE, writeOnce } from './cell-writes.ts'
import { findRoot } from './entity.ts'
import { ingestRecords } from './ingest.ts'
import { findNamed, type Named } from './lookup.ts'
import { checkRecord } from './record.ts'
import type { CellRun } from './store/cell-writes.ts'
import { refreshEntities } from './store/entities.ts'
import { lockRecords, lockRoots } from './store/record-locks.ts'
import { hasRelationship, removeRelationship } from './store/relationships.ts'

const Changed = z.object({ changed: z.boolean() })
export type RelationshipEnds = {
  fromKind: EntityKind | null
  from: string
  toKind: EntityKind
  to: string
  type: string
}

/** Adds or removes a relationship. What it names and is not there yet is made when it is added, as imports do. */
export function relateForCell(
  db: Db,
  orgId: string,
  cell: CellRun,
  { operation, ends }: { operation: 'add' | 'remove'; ends: RelationshipEnds },
) {
  return writeOnce(db, orgId, cell, {
    schema: Changed,
    write: async (now, confirm) => {
      const fromKinds = ends.fromKind === null ? EntityKind.options : [ends.fromKind]
      const [from, to] = [
        await findNamed(db, orgId, ends.from, fromKinds),
        await findNamed(db, orgId, ends.to, [ends.toKind]),
      ]
      if (from.kind === 'refused') return { ok: false, message: `from_identifier: ${from.message}` }
      if (to.kind === 'refused') return { ok: false, message: `to_identifier: ${to.message}` }
      return operation === 'add'
        ? addBetween(db, orgId, cell, { from, to, type: ends.type, now, confirm })
        : removeBetween(db, orgId, { from, to, type: ends.type }, confirm)
    },
  })
}

type End = Exclude<Named, { kind: 'refused' }>
type Between = { from: End; to: End; type: string }
type Confirm = (trx: Db, value: z.infer<typeof Changed>) => Promise<void>

/** The identifier to relate by. One that nobody has yet must say by itself what kind of entity it is. */
function mentionOf(end: End, field: string): Answer<{ kind: EntityKind; identifiers: object[] }> {
  const [reading] = end.kind === 'found' ? [end.identifier] : end.readings
  if (reading === undefined) return { ok: false, message: `${field}: there is no such entity` }
  const kinds = new Set(end.kind === 'found' ? [reading.kind] : end.readings.map(({ kind }) => kind))
  if (kinds.size > 1) {
    const message = `${field}: no entity has it yet, so relationship_target must give its kind, as in person_to_company`
    return { ok: false, message }
  }
  const identifiers = [{ kind: reading.identifierKind, value: reading.identifier }]
  return { ok: true, value: { kind: reading.kind, identifiers } }
}

async function addBetween(
  db: Db,
  orgId: string,
  cell: CellRun,
  { from, to, type, now, confirm }: Between & { now: Date } & { confirm: Confirm },
): Promise<Answer<z.infer<typeof Changed>>> {
  const [left, right] = [mentionOf(from, 'from_identifier'), mentionOf(to, 'to_identifier')]
  if (!left.ok) return left
  if (!right.ok) return right
  const checked = checkRecord({ ...left.value, relationships: [{ type, to: right.value }] }, now)
  if ('faults' in checked) {
    return {
      ok: false,
      message: checked.faults.map(({ message }) => `relationship_type: ${message}`).join('; '),
    }
  }
  const before =
    from.kind === 'found' && to.kind === 'found' && (await isRelated(db, orgId, { from, to, type }))
  const batch = { source: WORKFLOW_SOURCE, actor: cell.action, records: [checked.record] }
  await ingestRecords(db, orgId, batch, (trx) => confirm(trx, { changed: !before }))
  return { ok: true, value: { changed: !before } }
}

const isRelated = (
  db: Db,
  orgId: string,
  { from, to, type }: { from: End & { kind: 'found' }; to: End & { kind: 'found' }; type: string },
) => hasRelationship(db, orgId, { fromId: from.entity.entity_id, type, toId: to.entity.entity_id })

async function removeBetween(
  db: Db,
  orgId: string,
  { from, to, type }: Between,
  confirm: Confirm,
): Promise<Answer<z.infer<typeof Changed>>> {
  if (from.kind !== 'found' || to.kind !== 'found') return { ok: true, value: { changed: false } }
  return db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'shared')
    // They may have been merged since they were found; under the lock they stay as they are.
    const [left, right] = [
      await findRoot(trx, orgId, from.entity.entity_id),
      await findRoot(trx, orgId, to.entity.entity_id),
    ]
    if (left === undefined || right === undefined) return { ok: true, value: { changed: false } }
    const roots = [...new Map([left, right].map((root) => [root.entity_id, root])).values()]
    const ids = roots.map(({ entity_id }) => entity_id)
    await lockRoots(trx, orgId, ids)
    const changed = await removeRelationship(trx, orgId, {
      fromId: left.entity_id,
      type,
      toId: right.entity_id,
    })
    if (changed) {
      const touched = roots.map(({ entity_id, kind }) => ({ entityId: entity_id, kind, isNew: false }))
      await refreshEntities(trx, orgId, touched, new Set(ids))
    }
    await confirm(trx, { changed })
    return { ok: true, value: { changed } }
  })
}
