import type { InputColumn } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'
import { parseExact } from '../../lib/json/lossless-json.ts'
import type { Cap } from '../../money/caps.ts'
import { arriveRows } from '../../runs/arrivals.ts'
import { startRun } from '../../runs/queue.ts'
import { parseRows } from '../../sheets/rows/intake.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { changeMapping, fillRowData } from '../store/source-sync-fields.ts'
import {
  type Change,
  insertDeliveries,
  listChanges,
  type MappedField,
  type SyncRecord,
  updateRowData,
} from '../store/source-syncs.ts'

/** Builds the stored rows of records. Mapped inputs that have been removed since are left out. */
export async function toRows(
  inputs: readonly InputColumn[],
  mapping: readonly MappedField[],
  changes: readonly Change[],
): Promise<string[]> {
  const names = new Map(inputs.map(({ column, name }) => [column, name]))
  const mapped = mapping.flatMap(({ column, field }) => {
    const name = names.get(column)
    return name === undefined ? [] : [{ name, field }]
  })
  const rows = changes.map(({ data }) => {
    const record = parseExact(data) as Record<string, unknown>
    // An inherited property such as `constructor` is not a field of a record.
    return Object.fromEntries(
      mapped.map(({ name, field }) => [name, Object.hasOwn(record, field) ? record[field] : undefined]),
    )
  })
  const { accepted } = await parseRows(inputs, rows, { leavesOutLarge: true })
  return accepted.map((row) => row.data)
}

/** Returns the daily credit limit of the rows that the sync starts (M5). */
const dailyCap = ({ instance_id, workflow_id, max_credits_millis: limitMillis }: SyncRecord): { cap?: Cap } =>
  limitMillis === null
    ? {}
    : { cap: { subject: `source sync ${instance_id} ${workflow_id}`, limitMillis, each: 'day' } }

const actorOf = ({ created_by }: SyncRecord) => ({ email: created_by, keyId: null })

export async function addRows(
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
    ...dailyCap(sync),
  })
}

export async function changeRows(
  trx: Db,
  sync: SyncRecord,
  sheet: SheetRecord,
  { chosen, rows, inputs }: { chosen: Change[]; rows: string[]; inputs: readonly InputColumn[] },
): Promise<void> {
  const mapped = new Set(inputs.map(({ column }) => column))
  // An empty field also clears its column. Arriving rows simply leave it out.
  const empty = Object.fromEntries(
    sync.mapping.flatMap(({ column }) => (mapped.has(column) ? [[column, null]] : [])),
  )
  const changed = await updateRowData(
    trx,
    sheet,
    chosen.flatMap(({ row_id }, n) => {
      const data = { ...empty, ...(parseExact(rows[n] ?? '{}') as Record<string, unknown>) }
      return row_id === null ? [] : [{ row_id, data: JSON.stringify(data) }]
    }),
  )
  await runChanged(trx, sync, sheet, changed)
}

/**
 * Fills empty cells in a chunk of rows that were delivered under an earlier mapping. Returns false if none are left.
 * Existing values stay, regardless of who set them.
 */
export async function fillRows(
  trx: Db,
  sync: SyncRecord,
  sheet: SheetRecord,
  { inputs, limit }: { inputs: readonly InputColumn[]; limit: number },
): Promise<boolean> {
  const unfilled = sync.mapping.filter(({ fill_after }) => fill_after !== undefined)
  if (unfilled.length === 0) return false
  const after = Math.min(...unfilled.map(({ fill_after = 0 }) => fill_after))
  const { changes } = await listChanges(trx, { ...sync, position: after }, limit)
  const delivered = changes.filter(({ row_id }) => row_id !== null)
  const rows = await toRows(inputs, unfilled, delivered)
  const filled = await fillRowData(
    trx,
    sheet,
    delivered.flatMap(({ row_id }, n) => (row_id === null ? [] : [{ row_id, data: rows[n] ?? '{}' }])),
  )
  await runChanged(trx, sync, sheet, filled)
  const end = changes.at(-1)?.change_no
  const mapping = sync.mapping.map(({ fill_after, ...one }) =>
    fill_after === undefined || end === undefined ? one : { ...one, fill_after: Math.max(fill_after, end) },
  )
  await changeMapping(trx, sync, mapping)
  return true
}

/** Runs changed rows again if the sync is set to. */
async function runChanged(
  trx: Db,
  sync: SyncRecord,
  sheet: SheetRecord,
  changed: readonly string[],
): Promise<void> {
  if (sync.on_change !== 'update_and_run' || changed.length === 0) return
  const actions = (await getDefinition(trx, sheet)).actions.map((action) => action.id)
  if (actions.length === 0) return
  await startRun(trx, actorOf(sync), {
    sheet,
    actions,
    rows: { kind: 'ids', ids: [...changed] },
    trigger: 'source',
    ...dailyCap(sync),
  })
}
