import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { CellStatus } from '#contract/rows.ts'
import type { Db } from '../../database/connection/db.ts'
import { KEYED_READ } from '../../database/connection/statement-names.ts'
import { withoutBlanksInSteps } from '../../lib/json/without-blanks.ts'
import { atOnce, inTurns, type Steps } from '../../lib/timing/turns.ts'
import {
  type OpenComments,
  packedCells,
  unpackCells,
  type UnpackedCell,
  type UnreadOutputs,
} from './packed-cells.ts'
import type { StoredRow } from './row-values.ts'

/** A cell as JSON for callers (`Cell` of the contract). */
export type CellText = { status: CellStatus; json: string }
export type RowCells = {
  byAction: Record<string, CellText>
  /** Tells whether a run of the row was stopped before its last cell, and none followed (D92). */
  isStopped: boolean
  /** The open comments of the row, or null if there are none. */
  comments: OpenComments | null
}
export type CellsByRow = Map<string, RowCells>

/** The largest outputs that a response includes, in bytes of JSON (D44). */
export const MAX_INLINE_BYTES = 32 * 1024
/** The bytes of JSON that the outputs of one page may take. The cells beyond it get references to their outputs. */
const MAX_PAGE_OUTPUT_BYTES = 8 * 1024 * 1024

/** Returns the URL of a cell's outputs that are too large for the response. */
export type OutputsUrl = (rowId: string, action: string) => string

const keyedRead = sql.raw(KEYED_READ)

/** A cell whose outputs were not read. */
type Unread = Omit<UnpackedCell, 'outputs' | 'unread'> & UnreadOutputs & { row_id: string }
type PackedRow = { row_id: string; cells: string }

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

/** Writes the cells of rows. A page has many cells, so each is written at once if its outputs were read. */
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
    const row: RowCells = { byAction: view, isStopped: false, comments: null }
    page.set(row_id, row)
    const unpacked = unpackCells(cells)
    row.isStopped = unpacked.isStopped
    row.comments = unpacked.comments
    for (const { outputs, unread: large, ...cell } of unpacked.cells) {
      if (large !== null) {
        unread.push({ row_id, ...cell, ...large })
        continue
      }
      const measured = outputs === '' ? undefined : atOnce(measureInSteps(outputs, room))
      view[cell.action] = { status: cell.status, json: writeCell({ row_id, ...cell }, measured, urlOf) }
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
function* measureInSteps(text: string, room: { bytes: number }): Steps<Measured> {
  // The text is never shorter than without blanks, and has up to three bytes for a character.
  const isSmall = text.length * 3 <= Math.min(MAX_INLINE_BYTES, room.bytes)
  const json = isSmall ? text : yield* withoutBlanksInSteps(text)
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
      const found = await inTurns(measureInSteps(outputs, room))
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
export async function viewOutputs(text: string, url: () => string): Promise<string> {
  const measured = await inTurns(measureInSteps(text, { bytes: MAX_INLINE_BYTES }))
  return writeOutputs(measured, url).slice(1)
}

/** Returns the whole outputs of a cell as JSON text; undefined if it has none. */
export async function readCellOutputs(
  db: Db,
  orgId: string,
  rowId: string,
  action: string,
): Promise<string | undefined> {
  const [found] = await readOutputs(db, orgId, [{ row_id: rowId, action }])
  return found === undefined ? undefined : inTurns(withoutBlanksInSteps(found.outputs))
}
