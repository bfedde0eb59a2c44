import { type RawBuilder, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Cell } from '#contract/rows.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { Db } from '../connection/db.ts'
import { KEYED_READ } from '../connection/statement-names.ts'
import { flightAction } from '../runs/flights.ts'
import type { PackedCell, StoredRow } from './stored-row.ts'

export type CellsByRow = Map<string, Record<string, Cell>>

/** Bytes of JSON up to which outputs are answered in place (D44). */
export const MAX_INLINE_BYTES = 32 * 1024
/** Of JSON, that the outputs of one page may take in place. The cells beyond it have theirs by reference. */
const MAX_PAGE_OUTPUT_BYTES = 8 * 1024 * 1024

/** Where the outputs of a cell can be read when they are too large to be answered in place. */
export type OutputsUrl = (rowId: string, action: string) => string

/** Outputs that take more than this in the database, or are compressed and so of any length, are not read in passing. */
const READ_IN_PASSING = sql.lit(8 * 1024)
const isRead = sql`(pg_column_size(outputs) <= ${READ_IN_PASSING} and pg_column_compression(outputs) is null)`

const keyedRead = sql.raw(KEYED_READ)

type Stored = {
  row_id: string
  action: string
  status: Cell['status']
  error: string | null
  outputs: string | null
  /** Set where outputs were not read: what they take in the database, and when they were written. */
  stored_bytes: number | null
  version: string | null
}

/** Results, and the cell that is queued or running, all of one moment (D17). `rowId` is what their rows are compared with. */
const selectCells = (orgId: string, rowId: RawBuilder<unknown>) => sql<Stored>`
  select row_id, action, status, error,
    case when ${isRead} then outputs::text end as outputs,
    case when not ${isRead} then pg_column_size(outputs) end as stored_bytes,
    case when not ${isRead} then completed_at::text end as version
  from cells where org_id = ${orgId} and row_id = ${rowId}
  union all
  select f.row_id, ${flightAction}, f.status, null, null, null, null
  from flights f join runs run on run.org_id = f.org_id and run.run_id = f.run_id
  where f.org_id = ${orgId} and f.row_id = ${rowId}`

/** To be selected with a row: its cells, each an array of what `PackedCell` names. */
export const packedCells = (orgId: string, rowId: RawBuilder<unknown>): RawBuilder<PackedCell[] | null> =>
  sql`(select json_agg(json_build_array(c.action, c.status, c.error, c.outputs, c.stored_bytes, c.version))
    from (${selectCells(orgId, rowId)}) c)`

/** The cells of some rows by row and action. */
export async function listCells(
  db: Db,
  orgId: string,
  rowIds: readonly string[],
  urlOf: OutputsUrl,
): Promise<CellsByRow> {
  if (rowIds.length === 0) return new Map()
  const { rows } = await sql<Stored>`${keyedRead} ${selectCells(orgId, sql`any(${rowIds}::uuid[])`)}`.execute(
    db,
  )
  return viewCells(db, orgId, rows, urlOf)
}

/** The cells of a page: those that were read with its rows, else looked up by them. */
export async function listPageCells(
  db: Db,
  orgId: string,
  page: readonly StoredRow[],
  urlOf: OutputsUrl,
): Promise<CellsByRow> {
  if (page.some(({ cells }) => cells === undefined)) {
    const ids = page.map(({ row_id }) => row_id)
    return listCells(db, orgId, ids, urlOf)
  }
  const stored = page.flatMap(({ row_id, cells }) => (cells ?? []).map((cell) => unpack(row_id, cell)))
  return viewCells(db, orgId, stored, urlOf)
}

const unpack = (
  row_id: string,
  [action, status, error, outputs, stored_bytes, version]: PackedCell,
): Stored => ({ row_id, action, status, error, outputs, stored_bytes, version })

async function viewCells(db: Db, orgId: string, rows: Stored[], urlOf: OutputsUrl): Promise<CellsByRow> {
  const byRow: CellsByRow = new Map()
  const room = { bytes: MAX_PAGE_OUTPUT_BYTES }
  const light = new Map(
    rows.flatMap((cell) => (cell.outputs === null ? [] : [[cell, weigh(cell.outputs, room)]])),
  )
  const heavy = await weighHeavy(db, orgId, rows, room)
  for (const cell of rows) {
    const { row_id, action, status, error } = cell
    const row = byRow.get(row_id) ?? {}
    byRow.set(row_id, row)
    const weighed = light.get(cell) ?? heavy.get(nameOf(cell))
    row[action] = {
      status,
      ...(weighed === undefined ? {} : viewOutputs(weighed, () => urlOf(row_id, action))),
      ...(error === null ? {} : { error }),
    }
  }
  return byRow
}

/** Absent `outputs` are too large to be answered in place. */
type Weighed = { bytes: number; outputs?: Record<string, unknown> }

function viewOutputs({ bytes, outputs }: Weighed, url: () => string): Pick<Cell, 'outputs' | 'outputs_ref'> {
  return outputs === undefined ? { outputs_ref: { url: url(), size_bytes: bytes } } : { outputs }
}

/** As JSON without blanks, which is how callers get it. What is answered in place takes of the room that its page has. */
function weigh(text: string, room: { bytes: number }): Weighed {
  const outputs = parseLossless(text) as Record<string, unknown>
  // Never shorter than without blanks; up to three bytes for a character.
  const isSmall = text.length * 3 <= Math.min(MAX_INLINE_BYTES, room.bytes)
  const bytes = isSmall ? text.length * 3 : Buffer.byteLength(JSON.stringify(outputs))
  if (bytes > MAX_INLINE_BYTES || bytes > room.bytes) return { bytes }
  room.bytes -= isSmall ? text.length : bytes
  return { bytes, outputs }
}

/** Sizes of large outputs by cell and version, so that a page that is read again and again does not read them each time. */
const known = new LRUCache<string, number>({ max: 50_000 })

const nameOf = ({ row_id, action }: Pick<Stored, 'row_id' | 'action'>): string => `${row_id} ${action}`
const versionOf = (cell: Pick<Stored, 'row_id' | 'action' | 'version'>): string =>
  `${nameOf(cell)} ${cell.version}`

const BATCH_BYTES = 256 * 1024

async function weighHeavy(
  db: Db,
  orgId: string,
  cells: Stored[],
  room: { bytes: number },
): Promise<Map<string, Weighed>> {
  const weighed = new Map<string, Weighed>()
  let batch: Stored[] = []
  let batchBytes = 0
  const read = async () => {
    for (const { outputs, ...cell } of await readOutputs(db, orgId, batch)) {
      const found = weigh(outputs, room)
      weighed.set(nameOf(cell), found)
      if (found.outputs === undefined) known.set(versionOf(cell), found.bytes)
    }
    batch = []
    batchBytes = 0
  }
  for (const cell of cells) {
    if (cell.stored_bytes === null) continue
    const bytes = known.get(versionOf(cell))
    if (bytes !== undefined && (bytes > MAX_INLINE_BYTES || bytes > room.bytes)) {
      weighed.set(nameOf(cell), { bytes })
      continue
    }
    batch.push(cell)
    batchBytes += cell.stored_bytes
    if (batchBytes >= BATCH_BYTES) await read()
  }
  if (batch.length > 0) await read()
  return weighed
}

async function readOutputs(db: Db, orgId: string, cells: Pick<Stored, 'row_id' | 'action'>[]) {
  const { rows } = await sql<{ row_id: string; action: string; version: string; outputs: string }>`
    select c.row_id, c.action, c.completed_at::text as version, c.outputs::text as outputs
    from unnest(${cells.map((cell) => cell.row_id)}::uuid[], ${cells.map((cell) => cell.action)}::text[])
      as wanted (row_id, action)
    join cells c on c.org_id = ${orgId} and c.row_id = wanted.row_id and c.action = wanted.action
    where c.outputs is not null`.execute(db)
  return rows
}

/** The whole outputs of a cell as JSON text; undefined when it has none. */
export async function readCellOutputs(
  db: Db,
  orgId: string,
  rowId: string,
  action: string,
): Promise<string | undefined> {
  const [found] = await readOutputs(db, orgId, [{ row_id: rowId, action }])
  return found === undefined ? undefined : JSON.stringify(parseLossless(found.outputs))
}
