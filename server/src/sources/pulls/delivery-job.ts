import { z } from 'zod'
import type { Db, Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { takeTurn } from '../../lib/timing/fair-turns.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { isRowLimit } from '../../sheets/store/row-quota.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import { lookUpByKey } from '../store/source-records.ts'
import {
  type Change,
  deleteSync,
  listChanges,
  lockSync,
  moveSync,
  type SyncKey,
  type SyncRecord,
} from '../store/source-syncs.ts'
import { noteFault } from '../store/sources.ts'
import { addRows, changeRows, fillRows, toRows } from './delivered-rows.ts'
import { DELIVERY_JOB, queueDelivery } from './jobs.ts'
import { findAwaited } from './mapped-fields.ts'

/** The rows of one statement. A larger text would stay in memory for a long time. */
const CHUNK = 400
/** The maximum time of a turn: other jobs wait for the few job slots. */
const TURN_MS = 20_000
const ROOM_AFTER_MS = 300_000
const NO_ROOM = 'Make room in the workflow; its records are delivered within 5 minutes after that'

export function deliveryJob(store: Store): Job {
  return defineJob({
    name: DELIVERY_JOB,
    payload: z.object({ org_id: z.string(), instance_id: z.string(), workflow_id: z.string() }),
    run: (key, signal) => deliverRecords(store.org(key.org_id), key, signal),
  })
}

/**
 * Delivers new and changed records of a source to a workflow in chunks. Each chunk and its position are one
 * transaction.
 */
export async function deliverRecords(db: Db, key: SyncKey, signal: AbortSignal): Promise<void> {
  try {
    await deliverForATurn(db, key, signal)
  } catch (cause) {
    if (!isRowLimit(cause)) throw cause
    // No record was skipped. The fault is noted on the source, so that users see that they must make room.
    await noteFault(db, key, { at: new Date().toISOString(), message: cause.message, hint: NO_ROOM })
    await queueDelivery(db, key, new Date(Date.now() + ROOM_AFTER_MS))
  }
}

async function deliverForATurn(db: Db, key: SyncKey, signal: AbortSignal): Promise<void> {
  const started = performance.now()
  for (;;) {
    const more = await takeTurn(key.org_id, () => db.transaction().execute((trx) => deliverChunk(trx, key)))
    if (!more) return
    if (signal.aborted || performance.now() - started > TURN_MS) return queueDelivery(db, key)
  }
}

/** Returns false if there is nothing more to deliver. */
async function deliverChunk(trx: Db, key: SyncKey): Promise<boolean> {
  await lookUpByKey(trx)
  const sync = await lockSync(trx, key)
  if (sync === undefined) return false
  const sheet = await findSheet(trx, key.org_id, key.workflow_id)
  if (sheet === undefined) {
    await deleteSync(trx, key)
    return false
  }
  const { inputs } = await getDefinition(trx, sheet)
  const awaited = await findAwaited(trx, sync, inputs)
  if (awaited !== 'found') return awaited === 'more'
  if (await fillRows(trx, sync, sheet, { inputs, limit: CHUNK })) return true
  const { changes, more } = await listChanges(trx, sync, CHUNK)
  const last = changes.at(-1)
  if (last === undefined) return false
  const { kind, chosen, position } = choose(sync, changes)
  const rows = await toRows(inputs, sync.mapping, chosen)
  if (kind === 'new') await addRows(trx, sync, sheet, { chosen, rows })
  if (kind === 'changed') await changeRows(trx, sync, sheet, { chosen, rows, inputs })
  await moveSync(trx, key, { position, delivered: kind === 'new' ? chosen.length : 0 })
  return position < last.change_no || more
}

type Choice = { kind: 'new' | 'changed' | 'none'; chosen: Change[]; position: number }

/**
 * Chooses the part of a chunk to apply at once: new rows or changed ones, never both, because their locks are taken in
 * different orders. Other records are skipped: those that existed when the workflow was connected without them, and
 * ignored changes.
 */
function choose(sync: SyncRecord, changes: readonly Change[]): Choice {
  const kindOf = ({ row_id, seq, change_no }: Change): 'new' | 'changed' | null => {
    if (row_id === null) return seq > sync.after_seq ? 'new' : null
    return sync.on_change !== 'ignore' && change_no > sync.seen_change ? 'changed' : null
  }
  const kinds = changes.map((change) => ({ change, kind: kindOf(change) }))
  const kind = kinds.find((one) => one.kind !== null)?.kind ?? 'none'
  const other = kinds.findIndex((one) => one.kind !== null && one.kind !== kind)
  const part = other === -1 ? kinds : kinds.slice(0, other)
  return {
    kind,
    chosen: part.flatMap((one) => (one.kind === kind ? [one.change] : [])),
    position: part.at(-1)?.change.change_no ?? sync.position,
  }
}
