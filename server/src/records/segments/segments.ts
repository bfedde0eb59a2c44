import type { EntityKind } from '#contract/records.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { plural } from '../../lib/plural.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { findSyncOfSegment } from '../syncs/store/syncs.ts'
import { checkFilter, hashFilter } from './filter-check.ts'
import {
  deleteSegment,
  findSegment,
  insertSegment,
  lockSegment,
  lockSegmentToDelete,
  renameSegment,
  replaceFilter,
  type SegmentKey,
  type SegmentRecord,
} from './store/segments.ts'

const nameConflict = (name: string) =>
  new AppError('Conflict', `A segment with the name ${name} already exists`)

export async function requireSegment(db: Db, key: SegmentKey): Promise<SegmentRecord> {
  const found = await findSegment(db, key)
  if (found === undefined) throw notFound(`Segment ${key.segment_id}`)
  return found
}

/** Saves a segment. It has no members until it is evaluated. */
export async function createSegment(
  db: Db,
  orgId: string,
  actor: Actor,
  { name, kind, filter: given }: { name: string; kind: EntityKind; filter: unknown },
): Promise<SegmentRecord> {
  const filter = await checkFilter(db, orgId, kind, given)
  const key = { org_id: orgId, segment_id: newId() }
  return inTransaction(db, async (trx) => {
    const filterHash = hashFilter(kind, filter)
    if (!(await insertSegment(trx, { ...key, name, kind, filter, filterHash }))) throw nameConflict(name)
    // The entry has no filter: it may name a person whose data is to be erased one day.
    await recordAudit(trx, orgId, actor, {
      action: 'segment.created',
      target: key.segment_id,
      details: { name, kind, filter_hash: filterHash },
    })
    return requireSegment(trx, key)
  })
}

/** Renames a segment, or replaces its filter, which evaluates all entities again. An equal filter changes nothing. */
export async function updateSegment(
  db: Db,
  key: SegmentKey,
  actor: Actor,
  change: { name?: string; filter?: unknown },
): Promise<SegmentRecord> {
  return inTransaction(db, async (trx) => {
    const before = await lockSegment(trx, key)
    if (before === undefined) throw notFound(`Segment ${key.segment_id}`)
    const { name, filter: given } = change
    if (name !== undefined && !(await renameSegment(trx, key, name))) throw nameConflict(name)
    if (given !== undefined) {
      const filter = await checkFilter(trx, key.org_id, before.kind, given)
      const filterHash = hashFilter(before.kind, filter)
      if (filterHash !== before.filter_hash) await replaceFilter(trx, key, { filter, filterHash })
    }
    const after = await requireSegment(trx, key)
    await recordAudit(trx, key.org_id, actor, {
      action: 'segment.updated',
      target: key.segment_id,
      details: { name: after.name, filter_hash: after.filter_hash },
    })
    return after
  })
}

/**
 * Deletes a segment with its members and its feed. Entities and delivered rows stay. A synced segment is only deleted
 * with `force`, which ends the sync; its id is returned.
 */
export async function removeSegment(
  db: Db,
  key: SegmentKey,
  actor: Actor,
  { force }: { force: boolean },
): Promise<{ endedSyncId: string | null }> {
  return inTransaction(db, async (trx) => {
    if (!(await lockSegmentToDelete(trx, key))) throw notFound(`Segment ${key.segment_id}`)
    const sync = await findSyncOfSegment(trx, key)
    if (sync !== undefined && !force) {
      const workflows = plural(sync.destinations, 'workflow')
      const message = `The segment is synced into ${workflows} by sync ${sync.sync_id}: delete the sync first, or give --force`
      throw new AppError('Conflict', message)
    }
    await deleteSegment(trx, key)
    const endedSyncId = sync?.sync_id ?? null
    await recordAudit(trx, key.org_id, actor, {
      action: 'segment.deleted',
      target: key.segment_id,
      details: endedSyncId === null ? {} : { sync_id: endedSyncId },
    })
    return { endedSyncId }
  })
}
