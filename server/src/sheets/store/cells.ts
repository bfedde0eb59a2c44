import { type RawBuilder, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { CellStatus } from '#contract/rows.ts'
import type { Db } from '../../database/connection/db.ts'
import { KEYED_READ } from '../../database/connection/statement-names.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { flightAction, isBeforeLast } from '../../runs/store/flights.ts'
import type { StoredRow } from './row-values.ts'

/** A cell as JSON for callers (`Cell` of the contract). */
export type CellText = { status: CellStatus; json: string }
export type RowCells = {
  byAction: Record<string, CellText>
  /** Tells whether a run of the row was stopped before its last cell, and none followed (D92). */
  isStopped: boolean
}
export type CellsByRow = Map<string, RowCells>

/** The largest outputs that a response includes, in bytes of JSON (D44). */
export const MAX_INLINE_BYTES = 32 * 1024
/** The bytes of JSON that the outputs of one page may take. The cells beyond it get references to their outputs. */
const MAX_PAGE_OUTPUT_BYTES = 8 * 1024 * 1024

/** Returns the URL of a cell's outputs that are too large for the response. */
export type OutputsUrl = (rowId: string, action: string) => string

/**
 * The size in the database above which outputs are not read with their cell. Compressed outputs may be of any length and are
 * not read either.
 */
const READ_IN_PASSING = sql.lit(8 * 1024)
const isRead = sql`pg_column_size(c.outputs) <= ${READ_IN_PASSING} and pg_column_compression(c.outputs) is null`

const keyedRead = sql.raw(KEYED_READ)

/** The sign between the status of a cell that has its former result again, and the reason (D84). */
const KEPT = '+'
/** The mark before the cells of a row that was stopped, and after the status of a cell where the row ends. */
const STOPPED = 'stopped'
/**
 * The signs between fields and between cells. JSON has them only escaped, and names of actions and states do not have them.
 */
const FIELD_END = '\x1f'
const CELL_END = '\x1e'
const fieldEnd = sql.lit(FIELD_END)
const cellEnd = sql.lit(CELL_END)
const kept = sql.lit(KEPT)
const stopped = sql.lit(STOPPED)

/** A cell whose outputs were not read: their size in the database and their time. */
type Unread = {
  row_id: string
  action: string
  status: CellStatus
  /** The reason why the cell has its former result again. */
  kept: string | undefined
  /** The error as JSON; empty if there is none. */
  error: string
  stored_bytes: number
  version: string
}
type PackedRow = { row_id: string; cells: string }

/**
 * Selects a stored cell as one text, which `viewCells` splits. It is far cheaper to make and to read than an array of JSON.
 */
const packedCell = sql<string>`c.action || ${fieldEnd}
  || case when c.kept is null then c.status else c.status || ${kept} || (c.kept->>'because') end || ${fieldEnd}
  || case when c.error is null then '' else to_json(c.error)::text end || ${fieldEnd}
  || case when c.outputs is null then '' when ${isRead} then c.outputs::text
    else ${fieldEnd} || pg_column_size(c.outputs) || ${fieldEnd} || c.completed_at end`
/** Selects the cell that is queued or running. */
const packedFlight = sql<string>`${flightAction} || ${fieldEnd}
  || case when run.state = 'stopped' and ${isBeforeLast} then f.status || ${kept} || ${stopped} else f.status end || ${fieldEnd} || ${fieldEnd}`
/**
 * Selects the flight of a row and its run, each by its key. A join, planned while flights were few, would read all flights or
 * runs of the organisation for each row.
 */
const selectFlight = (orgId: string, rowId: RawBuilder<unknown>) => sql`
  (select * from flights where org_id = ${orgId} and row_id = ${rowId} offset 0) f,
  lateral (select actions, state from runs where org_id = f.org_id and run_id = f.run_id offset 0) run`

/** Selects the cells of a row: its results and the cell that is queued or running, all as of one moment (D17). */
export const packedCells = (orgId: string, rowId: RawBuilder<unknown>): RawBuilder<string> =>
  sql`concat_ws(${cellEnd},
    (select ${stopped} from stopped_rows where org_id = ${orgId} and row_id = ${rowId}),
    (select string_agg(${packedCell}, ${cellEnd}) from cells c where c.org_id = ${orgId} and c.row_id = ${rowId}),
    (select ${packedFlight} from ${selectFlight(orgId, rowId)}))`

/** Lists the cells of some rows, by row and action. */
export async function listCells(
  db: Db,
  orgId: string,
  rowIds: readonly string[],
  urlOf: OutputsUrl,
): Promise<CellsByRow> {
  if (rowIds.length === 0) return new Map()
  const { rows } = await sql<PackedRow>`${keyedRead}
    select wanted.row_id, ${packedCells(orgId, sql`wanted.row_id`)} as cells
    from unnest(${rowIds}::uuid[]) as wanted (row_id)`.execute(db)
  return viewCells(db, orgId, rows, urlOf)
}

/** Lists the cells of a page: those read with its rows, or else looked up by the rows. */
export async function listPageCells(
  db: Db,
  orgId: string,
  page: readonly StoredRow[],
  urlOf: OutputsUrl,
): Promise<CellsByRow> {
  const read = page.flatMap(({ row_id, cells }) => (cells === undefined ? [] : [{ row_id, cells }]))
  if (read.length === page.length) return viewCells(db, orgId, read, urlOf)
  const ids = page.map(({ row_id }) => row_id)
  return listCells(db, orgId, ids, urlOf)
}

/**
 * Writes the cells of rows. A page has many cells, so each is cut from its text and written at once if its outputs were read.
 */
async function viewCells(
  db: Db,
  orgId: string,
  rows: readonly PackedRow[],
  urlOf: OutputsUrl,
): Promise<CellsByRow> {
  const room = { bytes: MAX_PAGE_OUTPUT_BYTES }
  const unread: Unread[] = []
  const page: CellsByRow = new Map()
  for (const { row_id, cells } of rows) {
    // Callers read it by names of actions, so it has no prototype.
    const view = Object.create(null) as Record<string, CellText>
    const row = { byAction: view, isStopped: false }
    page.set(row_id, row)
    if (cells === '') continue
    const packed = cells.split(CELL_END)
    if (packed[0] === STOPPED) {
      row.isStopped = true
      packed.shift()
    }
    // A cell that runs again comes last and replaces its former result.
    const last = readAction(packed.at(-1) ?? '')
    for (const [n, text] of packed.entries()) {
      const action = readAction(text)
      if (action === last && n < packed.length - 1) continue
      const statusEnd = text.indexOf(FIELD_END, action.length + 1)
      const errorEnd = text.indexOf(FIELD_END, statusEnd + 1)
      const [status, mark] = readStatus(text.slice(action.length + 1, statusEnd))
      const isInFlight = status === 'queued' || status === 'running'
      const kept = isInFlight ? undefined : mark
      if (isInFlight && mark !== undefined) row.isStopped = true
      const error = text.slice(statusEnd + 1, errorEnd)
      const outputsEnd = text.indexOf(FIELD_END, errorEnd + 1)
      if (outputsEnd !== -1) {
        const [bytes, version = ''] = text.slice(outputsEnd + 1).split(FIELD_END)
        unread.push({ row_id, action, status, kept, error, stored_bytes: Number(bytes), version })
        continue
      }
      const outputs = text.slice(errorEnd + 1)
      const measured = outputs === '' ? undefined : measure(outputs, room)
      view[action] = { status, json: writeCell({ row_id, action, status, kept, error }, measured, urlOf) }
    }
  }
  if (unread.length === 0) return page
  const largeCells = await measureLarge(db, orgId, unread, room)
  for (const cell of unread) {
    const view = page.get(cell.row_id)?.byAction
    const json = writeCell(cell, largeCells.get(nameCell(cell)), urlOf)
    if (view !== undefined) view[cell.action] = { status: cell.status, json }
  }
  return page
}

function readStatus(text: string): [status: CellStatus, kept: string | undefined] {
  const end = text.indexOf(KEPT)
  return end === -1
    ? [text as CellStatus, undefined]
    : [text.slice(0, end) as CellStatus, text.slice(end + 1)]
}

const readAction = (packed: string): string => packed.slice(0, packed.indexOf(FIELD_END))

function writeCell(
  { row_id, action, status, kept, error }: Pick<Unread, 'row_id' | 'action' | 'status' | 'kept' | 'error'>,
  measured: Measured | undefined,
  urlOf: OutputsUrl,
): string {
  const outputs = measured === undefined ? '' : writeOutputs(measured, () => urlOf(row_id, action))
  const keptFields = kept === undefined ? '' : `,"kept":true,"kept_because":"${kept}"`
  return `{"status":"${status}"${outputs}${error === '' ? '' : `,"error":${error}`}${keptFields}}`
}

/** The size of outputs. `json` is absent if they are too large for the response. */
type Measured = { bytes: number; json?: string }

function writeOutputs({ bytes, json }: Measured, url: () => string): string {
  return json === undefined
    ? `,"outputs_ref":${JSON.stringify({ url: url(), size_bytes: bytes })}`
    : `,"outputs":${json}`
}

/** Measures outputs as JSON without blanks. Outputs included in the response use up the room of their page. */
function measure(text: string, room: { bytes: number }): Measured {
  // The text is never shorter than without blanks, and has up to three bytes for a character.
  const isSmall = text.length * 3 <= Math.min(MAX_INLINE_BYTES, room.bytes)
  const json = isSmall ? text : JSON.stringify(parseLossless(text))
  const bytes = isSmall ? text.length * 3 : Buffer.byteLength(json)
  if (bytes > MAX_INLINE_BYTES || bytes > room.bytes) return { bytes }
  room.bytes -= isSmall ? text.length : bytes
  return { bytes, json }
}

/** The sizes of large outputs by cell and version, so that repeated reads of a page do not read the outputs each time. */
const known = new LRUCache<string, number>({ max: 50_000 })

const nameCell = ({ row_id, action }: Pick<Unread, 'row_id' | 'action'>): string => `${row_id} ${action}`
const nameVersion = (cell: Pick<Unread, 'row_id' | 'action' | 'version'>): string =>
  `${nameCell(cell)} ${cell.version}`

const BATCH_BYTES = 256 * 1024

async function measureLarge(
  db: Db,
  orgId: string,
  cells: Unread[],
  room: { bytes: number },
): Promise<Map<string, Measured>> {
  const measured = new Map<string, Measured>()
  let batch: Unread[] = []
  let batchBytes = 0
  const read = async () => {
    for (const { outputs, ...cell } of await readOutputs(db, orgId, batch)) {
      const found = measure(outputs, room)
      measured.set(nameCell(cell), found)
      if (found.json === undefined) known.set(nameVersion(cell), found.bytes)
    }
    batch = []
    batchBytes = 0
  }
  for (const cell of cells) {
    const bytes = known.get(nameVersion(cell))
    if (bytes !== undefined && (bytes > MAX_INLINE_BYTES || bytes > room.bytes)) {
      measured.set(nameCell(cell), { bytes })
      continue
    }
    batch.push(cell)
    batchBytes += cell.stored_bytes
    if (batchBytes >= BATCH_BYTES) await read()
  }
  if (batch.length > 0) await read()
  return measured
}

async function readOutputs(db: Db, orgId: string, cells: Pick<Unread, 'row_id' | 'action'>[]) {
  const { rows } = await sql<{ row_id: string; action: string; version: string; outputs: string }>`
    select c.row_id, c.action, c.completed_at::text as version, c.outputs::text as outputs
    from unnest(${cells.map((cell) => cell.row_id)}::uuid[], ${cells.map((cell) => cell.action)}::text[])
      as wanted (row_id, action)
    join cells c on c.org_id = ${orgId} and c.row_id = wanted.row_id and c.action = wanted.action
    where c.outputs is not null`.execute(db)
  return rows
}

/** Returns outputs as a JSON field, or a reference to them if they are too large for the response. */
export function viewOutputs(text: string, url: () => string): string {
  return writeOutputs(measure(text, { bytes: MAX_INLINE_BYTES }), url).slice(1)
}

/** Returns the whole outputs of a cell as JSON text; undefined if it has none. */
export async function readCellOutputs(
  db: Db,
  orgId: string,
  rowId: string,
  action: string,
): Promise<string | undefined> {
  const [found] = await readOutputs(db, orgId, [{ row_id: rowId, action }])
  return found === undefined ? undefined : JSON.stringify(parseLossless(found.outputs))
}
