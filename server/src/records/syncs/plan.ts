import type { Db } from '../../database/connection/db.ts'
import { lookUpByKey } from '../../sources/store/source-records.ts'
import { clearDestinations, type DestinationRecord, listDestinations } from './store/destinations.ts'
import { changeSync, lockSync, type SyncKey, type SyncRecord } from './store/syncs.ts'
import { countFailures, countWaiting } from './store/waiting.ts'
import { findTarget } from './target.ts'

/**
 * The flood limits. A cycle may deliver `members`, or `factor` times the largest of the last cycles, whichever is more
 * (D52).
 */
export type FloodLimits = { members: number; factor: number }

const REMEMBERED_CYCLES = 10

/**
 * The result of planning. `behind`: members cleared before must be delivered first, so that held members are held as a
 * whole.
 */
export type Plan = 'cleared' | 'behind' | 'nothing'

/** Counts waiting members and clears or holds them, once per tick, in one transaction under the sync's lock. */
export async function planCycle(db: Db, key: SyncKey, flood: FloodLimits): Promise<Plan> {
  return db.transaction().execute(async (trx) => {
    await lookUpByKey(trx)
    const sync = await lockSync(trx, key)
    if (sync === undefined || sync.planned_tick === sync.tick) return 'nothing'
    const { last_seq, current_hash, tick } = sync
    const seen = { planned_tick: tick, filter_hash: current_hash, cycled: true } as const
    if (sync.state === 'pending_confirmation') {
      await changeSync(trx, key, sync.state, { ...seen, held_through: last_seq })
      return 'nothing'
    }
    if (sync.state !== 'active') return 'nothing'
    const all = await listDestinations(trx, key.org_id, [key.sync_id])
    const active = all.filter(({ state }) => state === 'active')
    if (active.some(({ position, cleared_through }) => position < cleared_through)) return 'behind'
    if (await pauseOnProblem(trx, key, active)) return 'nothing'
    const ids = active.map(({ connection_id }) => connection_id)
    const count = await countToDeliver(trx, sync, ids)
    const reason = findReason(sync, count, flood)
    if (reason !== null) {
      const held = { state: 'pending_confirmation', held_reason: reason, held_through: last_seq } as const
      await changeSync(trx, key, 'active', { ...seen, ...held })
      return 'nothing'
    }
    await clearDestinations(trx, key.org_id, ids, last_seq)
    const failures = await countFailures(trx, key.org_id, ids)
    await changeSync(trx, key, 'active', {
      ...seen,
      recent_counts: addCount(sync, count),
      ...(failures.length === 0 ? { last_import_error: null } : {}),
    })
    return 'cleared'
  })
}

/** Pauses the sync before any member is touched if a destination cannot take members. */
export async function pauseOnProblem(
  trx: Db,
  key: SyncKey,
  destinations: readonly DestinationRecord[],
): Promise<boolean> {
  for (const destination of destinations) {
    const target = await findTarget(trx, destination)
    if (!('problem' in target)) continue
    const { connection_id } = destination
    const last_import_error = { message: target.problem, at: new Date().toISOString(), connection_id }
    await changeSync(trx, key, 'active', { state: 'paused_error', last_import_error })
    return true
  }
  return false
}

async function countToDeliver(trx: Db, sync: SyncRecord, connectionIds: readonly string[]): Promise<number> {
  const counts = await countWaiting(trx, sync.org_id, connectionIds, sync.last_seq)
  return counts.find(({ connection_id }) => connection_id === null)?.pending ?? 0
}

function findReason(sync: SyncRecord, count: number, { members, factor }: FloodLimits) {
  if (sync.filter_hash !== sync.current_hash) return 'filter_changed'
  return count > Math.max(members, factor * Math.max(0, ...sync.recent_counts)) ? 'flood' : null
}

/** Returns the counts of the last cycles with a new one in front. */
export function addCount({ recent_counts }: SyncRecord, count: number): number[] {
  return [count, ...recent_counts].slice(0, REMEMBERED_CYCLES)
}
