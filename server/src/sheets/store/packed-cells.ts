import { type RawBuilder, sql } from 'kysely'
import type { CellStatus } from '#contract/rows.ts'
import { flightAction, isBeforeLast } from '../../runs/store/flights.ts'

// The cells of a row as one text, which PostgreSQL packs and this process unpacks. It is far cheaper to make and to
// read than an array of JSON.

/**
 * The size in the database above which outputs are not read with their cell. Compressed outputs may be of any length and are
 * not read either.
 */
const READ_IN_PASSING = sql.lit(8 * 1024)
const isRead = sql`pg_column_size(c.outputs) <= ${READ_IN_PASSING} and pg_column_compression(c.outputs) is null`

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

/** Selects a stored cell. */
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

/** The mark before the open comments of a row. */
const COMMENTS = 'comments'
/** Selects the number of open comments of a row by what they are about; null if there are none. */
const packedComments = (orgId: string, rowId: RawBuilder<unknown>) => sql`
  (select ${sql.lit(COMMENTS)} || ${fieldEnd} || jsonb_object_agg(place, count) from (
    select coalesce(m.action, case when m.input_column is null then m.variable else '#' || m.input_column || m.variable end, '') as place,
      count(*) as count
    from comments m where m.org_id = ${orgId} and m.row_id = ${rowId} and m.resolved_at is null group by 1
  ) counted)`

/** Selects the cells of a row: its results and the cell that is queued or running, all as of one moment (D17). */
export const packedCells = (orgId: string, rowId: RawBuilder<unknown>): RawBuilder<string> =>
  sql`concat_ws(${cellEnd}, ${packedComments(orgId, rowId)},
    (select ${stopped} from stopped_rows where org_id = ${orgId} and row_id = ${rowId}),
    (select string_agg(${packedCell}, ${cellEnd}) from cells c where c.org_id = ${orgId} and c.row_id = ${rowId}),
    (select ${packedFlight} from ${selectFlight(orgId, rowId)}))`

export type UnpackedCell = {
  action: string
  status: CellStatus
  /** The reason why the cell has its former result again. */
  kept: string | undefined
  /** The error as JSON; empty if there is none. */
  error: string
  /** The outputs as JSON; empty if there are none, or they were not read. */
  outputs: string
  unread: UnreadOutputs | null
}
/** Outputs that were not read: their size in the database and their time. */
export type UnreadOutputs = { stored_bytes: number; version: string }

/** The open comments of a row: their number by action, by token of an output, by `#<column><path>` of an input, or '' for the row. */
export type OpenComments = Record<string, number>

/** Unpacks the cells of a row. `isStopped`: a run of the row was stopped before its last cell, and none followed (D92). */
export function unpackCells(text: string): {
  isStopped: boolean
  comments: OpenComments | null
  cells: UnpackedCell[]
} {
  const packed = text === '' ? [] : text.split(CELL_END)
  const comments = readComments(packed[0])
  if (comments !== null) packed.shift()
  let isStopped = packed[0] === STOPPED
  if (isStopped) packed.shift()
  // A cell that runs again comes last and replaces its former result.
  const last = readAction(packed.at(-1) ?? '')
  const cells: UnpackedCell[] = []
  for (const [n, one] of packed.entries()) {
    if (n < packed.length - 1 && readAction(one) === last) continue
    const cell = unpackCell(one)
    if (cell.status === 'queued' || cell.status === 'running') {
      if (cell.kept !== undefined) isStopped = true
      cell.kept = undefined
    }
    cells.push(cell)
  }
  return { isStopped, comments, cells }
}

function readComments(packed: string | undefined): OpenComments | null {
  const start = COMMENTS + FIELD_END
  return packed?.startsWith(start) === true ? (JSON.parse(packed.slice(start.length)) as OpenComments) : null
}

function unpackCell(text: string): UnpackedCell {
  const action = readAction(text)
  const statusEnd = text.indexOf(FIELD_END, action.length + 1)
  const errorEnd = text.indexOf(FIELD_END, statusEnd + 1)
  const outputsEnd = text.indexOf(FIELD_END, errorEnd + 1)
  const [status, kept] = readStatus(text.slice(action.length + 1, statusEnd))
  const error = text.slice(statusEnd + 1, errorEnd)
  if (outputsEnd === -1)
    return { action, status, kept, error, outputs: text.slice(errorEnd + 1), unread: null }
  const [bytes, version = ''] = text.slice(outputsEnd + 1).split(FIELD_END)
  return { action, status, kept, error, outputs: '', unread: { stored_bytes: Number(bytes), version } }
}

function readStatus(text: string): [status: CellStatus, kept: string | undefined] {
  const end = text.indexOf(KEPT)
  return end === -1
    ? [text as CellStatus, undefined]
    : [text.slice(0, end) as CellStatus, text.slice(end + 1)]
}

const readAction = (packed: string): string => packed.slice(0, packed.indexOf(FIELD_END))
