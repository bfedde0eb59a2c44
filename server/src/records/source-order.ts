import type { Db } from '../database/connection/db.ts'
import { NO_ID } from '../lib/ids.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { scanEntities } from './segments/store/members.ts'
import { refreshEntities } from './store/entities.ts'
import { lockRecords, lockRoots } from './store/record-locks.ts'
import { writeSourceOrder } from './store/sources.ts'

const CHUNK = 1000

/**
 * Sets the order of sources and rewrites all entities by it, in chunks. Ingests after the first transaction see the new
 * order, and earlier ones have ended. If the work is interrupted, setting the same order again completes it.
 */
export async function declareSourceOrder(
  db: Db,
  orgId: string,
  actor: Actor,
  order: readonly string[],
): Promise<{ changed: number }> {
  await db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'exclusive')
    await writeSourceOrder(trx, orgId, order)
    await recordAudit(trx, orgId, actor, {
      action: 'records.sources_ordered',
      target: orgId,
      details: { order },
    })
  })
  let changed = 0
  for (let after: string | undefined = NO_ID; after !== undefined;) {
    const from: string = after
    after = await db.transaction().execute(async (trx) => {
      await lockRecords(trx, orgId, 'shared')
      const scanned = await scanEntities(trx, orgId, from, CHUNK)
      const roots = scanned
        .filter(({ is_root }) => is_root)
        .map(({ entity_id, kind }) => ({ entityId: entity_id, kind, isNew: false }))
      const ids = roots.map(({ entityId }) => entityId)
      if (ids.length > 0) await lockRoots(trx, orgId, ids)
      changed += (await refreshEntities(trx, orgId, roots, new Set())).length
      return scanned.at(-1)?.entity_id
    })
  }
  return { changed }
}
