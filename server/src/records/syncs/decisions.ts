import type { Choice } from '#contract/segment-syncs.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { AppError, forbidden, notFound } from '../../lib/errors.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { addCount } from './plan.ts'
import {
  clearDestinations,
  type DestinationRecord,
  listDestinations,
  setDestinationState,
  skipDestinations,
} from './store/destinations.ts'
import { changeSync, lockSync, type SyncKey, type SyncRecord } from './store/syncs.ts'
import { countWaiting } from './store/waiting.ts'

/** The ids of the destinations that the caller may decide about. */
export type Covered = ReadonlySet<string>

type Locked = { trx: Db; sync: SyncRecord; destinations: DestinationRecord[] }

/**
 * Applies a decision about a whole sync under its lock. Refuses if the caller lacks access to one of its destinations.
 */
async function decide(
  db: Db,
  actor: Actor,
  key: SyncKey,
  {
    covered,
    action,
    details = {},
    change,
  }: { covered: Covered; action: string; details?: object; change: (locked: Locked) => Promise<void> },
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const sync = await lockSync(trx, key)
    if (sync === undefined) throw notFound('Sync')
    const destinations = await listDestinations(trx, key.org_id, [key.sync_id])
    if (destinations.some(({ connection_id }) => !covered.has(connection_id))) {
      throw forbidden('This sync has destinations that you have no access to')
    }
    await change({ trx, sync, destinations })
    const target = key.sync_id
    await recordAudit(trx, key.org_id, actor, { action, target, details: { ...details } })
  })
}

/** Ends a pause caused by an error. Does nothing if there is none. */
export async function resumeSync(db: Db, actor: Actor, key: SyncKey, covered: Covered): Promise<void> {
  await decide(db, actor, key, {
    covered,
    action: 'segment_sync.resumed',
    change: async ({ trx, sync }) => {
      if (sync.state === 'pending_confirmation') {
        throw new AppError('Conflict', 'Members are held: confirm them with push or skip')
      }
      if (sync.state !== 'paused_error') return
      await changeSync(trx, key, 'paused_error', { state: 'active', last_import_error: null, due: true })
    },
  })
}

/**
 * Releases or drops the members that a breaker held. The backlog of paused destinations stays: it is decided when they
 * resume.
 */
export async function confirmSync(
  db: Db,
  actor: Actor,
  key: SyncKey,
  { covered, choice }: { covered: Covered; choice: Choice },
): Promise<void> {
  await decide(db, actor, key, {
    covered,
    action: 'segment_sync.confirmed',
    details: { choice },
    change: async ({ trx, sync, destinations }) => {
      if (sync.state !== 'pending_confirmation') {
        throw new AppError('Conflict', `No members are held: the sync is ${sync.state}`)
      }
      const active = destinations.filter(({ state }) => state === 'active')
      const ids = active.map(({ connection_id }) => connection_id)
      const change = { state: 'active', held_reason: null, due: true } as const
      if (choice === 'skip') {
        await skipDestinations(trx, key.org_id, ids, sync.held_through)
        await changeSync(trx, key, 'pending_confirmation', change)
        return
      }
      const counts = await countWaiting(trx, key.org_id, ids)
      const released = counts.find(({ connection_id }) => connection_id === null)?.held ?? 0
      await clearDestinations(trx, key.org_id, ids, sync.held_through)
      await changeSync(trx, key, 'pending_confirmation', {
        ...change,
        recent_counts: addCount(sync, released),
      })
    },
  })
}

/** Deletes a sync: deliveries end, rows stay. */
export async function deleteSync(db: Db, actor: Actor, key: SyncKey, covered: Covered): Promise<void> {
  await decide(db, actor, key, {
    covered,
    action: 'segment_sync.deleted',
    change: async ({ trx, sync }) => {
      await changeSync(trx, key, sync.state, { state: 'deleted', held_reason: null })
    },
  })
}

/** Stops deliveries to one destination. Members that enter meanwhile become its backlog. */
export async function pauseDestination(
  db: Db,
  actor: Actor,
  key: SyncKey,
  connectionId: string,
): Promise<void> {
  const destination = { org_id: key.org_id, connection_id: connectionId }
  await inTransaction(db, async (trx) => {
    if ((await lockSync(trx, key)) === undefined) throw notFound('Sync')
    if (!(await setDestinationState(trx, destination, 'active', 'paused'))) return
    const details = { connection_id: connectionId }
    const entry = { action: 'segment_sync.destination_paused', target: key.sync_id, details }
    await recordAudit(trx, key.org_id, actor, entry)
  })
}

/** Resumes one destination and delivers or drops its backlog. Does nothing if it was not paused. */
export async function resumeDestination(
  db: Db,
  actor: Actor,
  key: SyncKey,
  { connectionId, choice }: { connectionId: string; choice: Choice },
): Promise<void> {
  const destination = { org_id: key.org_id, connection_id: connectionId }
  await inTransaction(db, async (trx) => {
    const sync = await lockSync(trx, key)
    if (sync === undefined) throw notFound('Sync')
    if (!(await setDestinationState(trx, destination, 'paused', 'active'))) return
    if (choice === 'skip') await skipDestinations(trx, key.org_id, [connectionId], sync.last_seq)
    // While members are held, the backlog waits with them for the confirmation.
    else if (sync.state !== 'pending_confirmation') {
      await clearDestinations(trx, key.org_id, [connectionId], sync.last_seq)
    }
    await changeSync(trx, key, sync.state, { due: true })
    const details = { connection_id: connectionId, choice }
    const entry = { action: 'segment_sync.destination_resumed', target: key.sync_id, details }
    await recordAudit(trx, key.org_id, actor, entry)
  })
}
