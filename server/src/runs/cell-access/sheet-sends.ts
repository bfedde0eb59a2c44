import { sql } from 'kysely'
import { findFormerNames, nameAsNow } from '../../catalog/chain/input-renames.ts'
import type { SheetAnswer } from '../../catalog/define.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import { type Db, isUnavailable, type Store } from '../../database/connection/db.ts'
import { isLargerJson } from '../../lib/json/json-size.ts'
import { createBatcher } from '../../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../../lib/timing/keyed-batcher.ts'
import { parseRows } from '../../sheets/rows/intake.ts'
import { isRowLimit } from '../../sheets/store/row-quota.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { arriveRows } from '../arrivals.ts'
import type { ActingFlight } from './acting-flight.ts'
import { findTarget, type Targeting } from './target-sheet.ts'

/** The number of times that rows may be sent on. Sheets that send to each other would never end (D36). */
const MAX_HOPS = 10
/** The most rows of one transaction. */
const MAX_TOGETHER = 200
/** The number of bytes that count as one more row. */
const BYTES = 4096

type Sending = Targeting & { rowId: string; rows: Record<string, unknown>[] }
type Sent = SheetAnswer<string[]>

/**
 * Sends rows to another sheet on behalf of the flight's cell, once however often the cell is run, and returns their
 * ids.
 */
export type SendRows = (
  flight: ActingFlight,
  sheetId: string,
  rows: Record<string, unknown>[],
) => Promise<Sent>

/**
 * Creates a sender of rows to other sheets. Cells of one action that send to the same sheet at the same time, in the
 * same run, share a transaction: all of them add to one counter of rows, and would wait for each other.
 */
export function createSheetSends(store: Store, catalogue: Pick<Catalogue, 'get'>): SendRows {
  const send = createKeyedBatcher<Sending, Sent>({
    keyOf: ({ facts, action, sheetId }) => {
      const { org_id, run_id, revision, key_id, cap_purse_id, member, hops } = facts
      const targeting = [org_id, run_id, revision, key_id, cap_purse_id, member, hops, action, sheetId]
      return JSON.stringify(targeting)
    },
    make: (targeting) =>
      createBatcher<Sending, Sent>({
        maxItems: MAX_TOGETHER,
        maxInFlight: 1,
        sizeOf: ({ rows }) => sizeOf(rows),
        // A cell whose rows do not fit, or that another worker sends meanwhile, fails alone.
        isolates: (cause) => !isUnavailable(cause),
        run: (items) => sendTogether(store.org(targeting.facts.org_id), catalogue, targeting, items),
      }),
  })
  return async ({ facts, row, position }, sheetId, rows) => {
    if (facts.hops >= MAX_HOPS) {
      return {
        ok: false,
        message: `rows were sent on ${MAX_HOPS} times already; the sheets send to each other`,
      }
    }
    return send({ facts, action: position.action, sheetId, rowId: row.id, rows })
  }
}

function sizeOf(rows: Sending['rows']): number {
  if (isLargerJson(rows, MAX_TOGETHER * BYTES)) return MAX_TOGETHER
  return rows.length + Math.floor(JSON.stringify(rows).length / BYTES)
}

type Parsed = { sending: Sending; data: string[] }

/** Sends the rows of one batch. Looks for the target again: access to the sheet may have been withdrawn since. */
async function sendTogether(
  db: Db,
  catalogue: Pick<Catalogue, 'get'>,
  targeting: Targeting,
  sendings: readonly Sending[],
): Promise<Sent[]> {
  const found = await findTarget(db, catalogue, targeting)
  if (!found.ok) return sendings.map(() => found)
  const { sheet, definition } = found.value
  const answers = new Map<Sending, Sent>()
  const parsed: Parsed[] = []
  // The run may have begun before inputs of the other sheet were renamed.
  const former = findFormerNames(definition.inputs)
  for (const sending of sendings) {
    const rows = sending.rows.map((row) => nameAsNow(row, former))
    const { accepted, rejected } = await parseRows(definition.inputs, rows)
    const wrong = rejected[0]?.errors[0]
    if (wrong === undefined) parsed.push({ sending, data: accepted.map((row) => row.data) })
    else answers.set(sending, { ok: false, message: `${wrong.field}: ${wrong.message}` })
  }
  for (const [sending, sent] of await sendOrRefuse(db, targeting, sheet, parsed)) answers.set(sending, sent)
  return sendings.map((sending) => {
    const answer = answers.get(sending)
    if (answer === undefined) throw new Error('a row was not sent')
    return answer
  })
}

/**
 * Sends rows, and returns an error for a single cell that reached the row limit. Several cells fail together, because
 * some of them may fit.
 */
async function sendOrRefuse(
  db: Db,
  targeting: Targeting,
  sheet: SheetRecord,
  parsed: readonly Parsed[],
): Promise<Map<Sending, Sent>> {
  const [first] = parsed
  if (first === undefined) return new Map()
  if (parsed.length > 1) return sendAll(db, targeting, sheet, parsed)
  try {
    return await sendOne(db, targeting, sheet, first)
  } catch (cause) {
    if (isRowLimit(cause)) return new Map([[first.sending, { ok: false, message: cause.message }]])
    throw cause
  }
}

/**
 * Sends for one cell. An earlier call of the cell that was taken for hung may send at the same time: then its rows are
 * found.
 */
async function sendOne(
  db: Db,
  targeting: Targeting,
  sheet: SheetRecord,
  one: Parsed,
): Promise<Map<Sending, Sent>> {
  try {
    return await sendAll(db, targeting, sheet, [one])
  } catch (cause) {
    if (!(cause instanceof Error && 'constraint' in cause && cause.constraint === 'sent_rows_pkey'))
      throw cause
    return sendAll(db, targeting, sheet, [one])
  }
}

/**
 * Adds rows and notes them in one transaction. A cell that is run again after a crash finds its note and sends nothing.
 */
function sendAll(
  db: Db,
  { facts, action }: Targeting,
  sheet: SheetRecord,
  parsed: readonly Parsed[],
): Promise<Map<Sending, Sent>> {
  const { org_id, run_id, key_id, cap_purse_id, member, hops } = facts
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ row_id: string; target_row_id: string }>`
      select sent.row_id, sent.target_row_id
      from unnest(${[...new Set(parsed.map(({ sending }) => sending.rowId))]}::uuid[]) as wanted (row_id)
      cross join lateral (
        select row_id, item, target_row_id from sent_rows
        where org_id = ${org_id} and row_id = wanted.row_id and run_id = ${run_id} and action = ${action} offset 0
      ) sent
      order by sent.row_id, sent.item`.execute(trx)
    const before = Map.groupBy(rows, ({ row_id }) => row_id)
    const sent = new Map<Sending, Sent>()
    for (const { sending } of parsed) {
      const ids = before.get(sending.rowId)
      if (ids !== undefined) sent.set(sending, { ok: true, value: ids.map((row) => row.target_row_id) })
    }
    const unsent = parsed.filter(({ sending }) => !sent.has(sending)).toSorted(compareSenders)
    if (unsent.length === 0) return sent
    const { rowIds } = await arriveRows(trx, {
      sheet,
      data: unsent.flatMap(({ data }) => data),
      // The key that started this run also counts as the starter of the run that follows.
      actor: { email: 'send_to_sheet', keyId: key_id },
      trigger: 'send_to_sheet',
      run: 'none',
      hops: hops + 1,
      // The same member pays, from the same limit (M6).
      member,
      ...(cap_purse_id !== null && { cap: { limitId: cap_purse_id } }),
    })
    let first = 0
    const notes = unsent.flatMap(({ sending, data }) => {
      const value = rowIds.slice(first, (first += data.length))
      sent.set(sending, { ok: true, value })
      return value.map((target, item) => ({ rowId: sending.rowId, item, target }))
    })
    await sql`insert into sent_rows (org_id, run_id, row_id, action, item, target_row_id)
      select ${org_id}, ${run_id}, row_id, ${action}, item, target
      from unnest(${notes.map(({ rowId }) => rowId)}::uuid[], ${notes.map(({ item }) => item)}::int[],
        ${notes.map(({ target }) => target)}::uuid[]) as note (row_id, item, target)`.execute(trx)
    return sent
  })
}

/** Orders rows by the rows that send them. */
const compareSenders = ({ sending: a }: Parsed, { sending: b }: Parsed) =>
  a.rowId < b.rowId ? -1 : Number(a.rowId > b.rowId)
