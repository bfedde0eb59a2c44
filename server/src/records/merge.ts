import type { Db } from '../database/connection/db.ts'
import { AppError, invalid, notFound } from '../lib/errors.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { findRoot } from './entity.ts'
import { refreshEntities } from './store/entities.ts'
import { removeSeparation, mergeRoots, undoMerge } from './store/merges.ts'
import { lockRecords } from './store/record-locks.ts'

type Pair = { keptId: string; mergedId: string }

/** Merges two entities; the first id is kept. Imports may merge them again even if they were separated before. */
export async function mergeEntities(db: Db, orgId: string, actor: Actor, pair: Pair): Promise<Pair> {
  return db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'exclusive')
    const kept = await findRoot(trx, orgId, pair.keptId)
    const merged = await findRoot(trx, orgId, pair.mergedId)
    if (kept === undefined) throw notFound(`Entity ${pair.keptId}`)
    if (merged === undefined) throw notFound(`Entity ${pair.mergedId}`)
    if (kept.entity_id === merged.entity_id)
      throw new AppError('Conflict', 'The two ids already belong to one entity')
    if (kept.kind !== merged.kind) {
      throw invalid(
        'merged',
        `is a ${merged.kind}, the other a ${kept.kind}; only entities of one kind can be merged`,
      )
    }
    const merge = { keptId: kept.entity_id, mergedId: merged.entity_id }
    await removeSeparation(trx, orgId, merge)
    await mergeRoots(trx, orgId, [merge], { cause: 'command', actor: actor.email })
    const root = { entityId: kept.entity_id, kind: kept.kind, isNew: false }
    await refreshEntities(trx, orgId, [root], new Set([kept.entity_id]))
    await recordAudit(trx, orgId, actor, {
      action: 'records.merged',
      target: merge.keptId,
      details: { merged_id: merge.mergedId },
    })
    return merge
  })
}

/** Undoes the latest merge of an entity into another. Imports do not merge the two again. */
export async function unmergeEntity(db: Db, orgId: string, actor: Actor, mergedId: string): Promise<Pair> {
  return db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'exclusive')
    const root = await findRoot(trx, orgId, mergedId)
    if (root === undefined) throw notFound(`Entity ${mergedId}`)
    const undone = await undoMerge(trx, orgId, { mergedId, rootId: root.entity_id })
    if (!undone) throw new AppError('Conflict', `Entity ${mergedId} is not merged into another`)
    const ids = [root.entity_id, mergedId]
    const roots = ids.map((entityId) => ({ entityId, kind: root.kind, isNew: false }))
    await refreshEntities(trx, orgId, roots, new Set(ids))
    await recordAudit(trx, orgId, actor, {
      action: 'records.unmerged',
      target: mergedId,
      details: { kept_id: root.entity_id },
    })
    return { keptId: root.entity_id, mergedId }
  })
}
