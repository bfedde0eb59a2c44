import { z } from 'zod'
import type { InputColumn } from '../chain/definition.ts'
import { newId } from '../lib/ids.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { parseExact } from '../lib/json/lossless-json.ts'
import { takeTurn } from '../lib/timing/fair-turns.ts'
import { parseRows } from '../rows/intake.ts'
import { arriveRows } from '../runs/arrivals.ts'
import type { Cap } from '../runs/caps.ts'
import { startRun } from '../runs/queue.ts'
import type { Db, Store } from '../store/connection/db.ts'
import { getDefinition } from '../store/sheets/definitions.ts'
import { isRowLimit } from '../store/sheets/row-quota.ts'
import { findSheet, type SheetRecord } from '../store/sheets/sheets.ts'
import { lookUpByKey } from '../store/sources/source-records.ts'
import {
  type Change,
  deleteSync,
  insertDeliveries,
  listChanges,
  lockSync,
  type MappedField,
  moveSync,
  type SyncKey,
  type SyncRecord,
  updateRowData,
} from '../store/sources/source-syncs.ts'
import { noteFault } from '../store/sources/sources.ts'
import { DELIVERY_JOB, queueDelivery } from './jobs.ts'

/** With more, the rows of a statement are a text that is long kept in memory. */
const CHUNK = 400
/** Others wait for the few places that jobs have. */
const TURN_MS = 20_000
const ROOM_AFTER_MS = 300_000
const NO_ROOM =
  'Records wait for room in their workflow, and are delivered within 5 minutes after there is some'

export function deliveryJob(store: Store): Job {
  return defineJob({
    name: DELIVERY_JOB,
    payload: z.object({ org_id: z.string(), instance_id: z.string(), workflow_id: z.string() }),
    run: (key, signal) => deliverRecords(store.org(key.org_id), key, signal),
  })
}

/** Brings a workflow what it has not got of a source, chunk by chunk; a chunk is one transaction with its place. */
export async function deliverRecords(db: Db, key: SyncKey, signal: AbortSignal): Promise<void> {
  try {
    await deliverForATurn(db, key, signal)
  } catch (cause) {
    if (!isRowLimit(cause)) throw cause
    // Nothing was passed over. Somebody has to make room, and looks at the source to see why nothing comes.
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

/** False when there is nothing more to deliver. */
async function deliverChunk(trx: Db, key: SyncKey): Promise<boolean> {
  await lookUpByKey(trx)
  const sync = await lockSync(trx, key)
  if (sync === undefined) return false
  const sheet = await findSheet(trx, key.org_id, key.workflow_id)
  if (sheet === undefined) {
    await deleteSync(trx, key)
    return false
  }
  const { changes, more } = await listChanges(trx, sync, CHUNK)
  const last = changes.at(-1)
  if (last === undefined) return false
  const { kind, chosen, position } = choose(sync, changes)
  const { inputs } = await getDefinition(trx, sheet)
  const rows = await toRows(inputs, sync.mapping, chosen)
  if (kind === 'new') await addRows(trx, sync, sheet, { chosen, rows })
  if (kind === 'changed') await changeRows(trx, sync, sheet, { chosen, rows, inputs })
  await moveSync(trx, key, { position, delivered: kind === 'new' ? chosen.length : 0 })
  return position < last.change_no || more
}

type Choice = { kind: 'new' | 'changed' | 'none'; chosen: Change[]; position: number }

/**
 * What of a chunk is done at once: new rows or changed ones, never both, since their locks come in different orders. What is
 * neither is passed over: a record that was there when the workflow was connected without it, or a change that is ignored.
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

/** Stored rows of records, by the inputs that are still there; one that was removed since takes nothing. */
async function toRows(
  inputs: readonly InputColumn[],
  mapping: readonly MappedField[],
  changes: readonly Change[],
): Promise<string[]> {
  const names = new Map(inputs.map(({ column, name }) => [column, name]))
  const living = mapping.flatMap(({ column, field }) => {
    const name = names.get(column)
    return name === undefined ? [] : [{ name, field }]
  })
  const rows = changes.map(({ data }) => {
    const record = parseExact(data) as Record<string, unknown>
    // What every object inherits, such as `constructor`, is no field of a record.
    return Object.fromEntries(
      living.map(({ name, field }) => [name, Object.hasOwn(record, field) ? record[field] : undefined]),
    )
  })
  const { accepted } = await parseRows(inputs, rows, { leavesOutLarge: true })
  return accepted.map((row) => row.data)
}

/** What the rows may cost a day that the sync starts (M5). */
const capOfDay = ({ instance_id, workflow_id, max_credits_millis: limitMillis }: SyncRecord): { cap?: Cap } =>
  limitMillis === null
    ? {}
    : { cap: { subject: `source sync ${instance_id} ${workflow_id}`, limitMillis, each: 'day' } }

const actorOf = ({ created_by }: SyncRecord) => ({ email: created_by, keyId: null })

async function addRows(
  trx: Db,
  sync: SyncRecord,
  sheet: SheetRecord,
  { chosen, rows }: { chosen: Change[]; rows: string[] },
): Promise<void> {
  const rowIds = chosen.map(() => newId())
  await insertDeliveries(trx, sync, { keys: chosen.map(({ key }) => key), rowIds })
  await arriveRows(trx, {
    sheet,
    data: rows,
    ids: rowIds,
    actor: actorOf(sync),
    trigger: 'source',
    run: 'none',
    ...capOfDay(sync),
  })
}

async function changeRows(
  trx: Db,
  sync: SyncRecord,
  sheet: SheetRecord,
  { chosen, rows, inputs }: { chosen: Change[]; rows: string[]; inputs: readonly InputColumn[] },
): Promise<void> {
  const living = new Set(inputs.map(({ column }) => column))
  // A field that is empty now empties its column; rows that arrive simply leave it out.
  const empty = Object.fromEntries(
    sync.mapping.flatMap(({ column }) => (living.has(column) ? [[column, null]] : [])),
  )
  const changed = await updateRowData(
    trx,
    sheet,
    chosen.flatMap(({ row_id }, n) => {
      const data = { ...empty, ...(parseExact(rows[n] ?? '{}') as Record<string, unknown>) }
      return row_id === null ? [] : [{ row_id, data: JSON.stringify(data) }]
    }),
  )
  if (sync.on_change !== 'update_and_run' || changed.length === 0) return
  const actions = (await getDefinition(trx, sheet)).actions.map((action) => action.id)
  if (actions.length === 0) return
  await startRun(trx, actorOf(sync), {
    sheet,
    actions,
    rows: { kind: 'ids', ids: changed },
    trigger: 'source',
    ...capOfDay(sync),
  })
}
