import { sql } from 'kysely'
import { evaluate } from '../../../catalog/chain/condition-evaluate.ts'
import { type ConditionGroup, parseConditionGroups } from '../../../catalog/chain/condition-shape.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { parseTemplate, resolveValue } from '../../../catalog/chain/references.ts'
import { createRowScope } from '../../../catalog/chain/row-scope.ts'
import type { LookupQuery, SheetAccess, SheetAnswer } from '../../../catalog/define.ts'
import type { Catalogue } from '../../../catalog/registry.ts'
import { cancellable } from '../../../database/connection/cancellation.ts'
import type { Db, Store } from '../../../database/connection/db.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import { deleteRows, type StoredRow } from '../../../sheets/store/rows.ts'
import type { SheetRecord } from '../../../sheets/store/sheets.ts'
import type { Flight } from '../flights/flight.ts'
import type { DatabaseUse } from './database-use.ts'
import type { SendRows } from './sheet-sends.ts'
import { findTarget, type Target } from './target-sheet.ts'
import type { JudgeUnique } from './uniqueness.ts'

type Call = { signal: AbortSignal; database: DatabaseUse }
type Lent = Call & { judgeUnique: JudgeUnique; sendRows: SendRows; catalogue: Pick<Catalogue, 'get'> }

/** What actions may do with rows, on behalf of the flight's cell. */
export function createSheetAccess(
  store: Store,
  flight: Flight,
  { signal, database, judgeUnique, sendRows, catalogue }: Lent,
): SheetAccess {
  const { facts, row, position } = flight
  const db = store.org(facts.org_id)
  return {
    append: (sheetId, rows) => database.watch(sendRows(flight, sheetId, rows)),
    async lookup(query) {
      const found = await database.watch(
        findTarget(db, catalogue, { facts, action: position.action, sheetId: query.targetSheetId }),
      )
      return found.ok
        ? cancellable(store, db, signal, (trx) => lookUp(trx, found.value, query, { signal, database }))
        : found
    },
    judgeUnique: (values) => database.watch(judgeUnique(flight, values)),
    async deleteThisRow() {
      await database.watch(db.transaction().execute((trx) => deleteRows(trx, facts, [row.id])))
    },
  }
}

const SCAN = 1000
/** As stored, that one page of a scan reads; one row goes alone. */
const SCAN_BYTES = 256 * 1024
/** Of JSON, that the records of a lookup may take. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024

/**
 * Walks the target's rows in order and keeps those that meet the conditions, which may speak of inputs and outputs. Ends
 * with the page at hand when the action has ended.
 */
async function lookUp(
  db: Db,
  { sheet, definition }: Target,
  { conditions, limit, order }: LookupQuery,
  { signal, database }: Call,
): Promise<SheetAnswer<{ count: number; records: Record<string, unknown>[] }>> {
  const parsed = parseConditionGroups(conditions, 'conditions')
  if (!parsed.ok)
    return { ok: false, message: parsed.errors.map((error) => `${error.field}: ${error.message}`).join('; ') }
  const records: Record<string, unknown>[] = []
  let count = 0
  let bytes = 0
  let place: ScanPlace = { after: null, limit: SCAN }
  for (;;) {
    const rows: ScannedRow[] = await database.watch(scan(db, sheet, place, order))
    signal.throwIfAborted()
    for (const row of rows) {
      if (!matches(row, definition, parsed.value)) continue
      count += 1
      if (records.length >= limit) continue
      bytes += row.data.length + (row.cells?.length ?? 0)
      if (bytes > MAX_RECORD_BYTES) return tooMuch
      records.push(recordOf(row, definition))
    }
    const looked = rows.at(-1)?.looked ?? 0
    if (rows.length === looked && looked < place.limit) return { ok: true, value: { count, records } }
    // Where rows are large, few of the next ones will fit either.
    place = { after: rows.at(-1)?.seq ?? null, limit: Math.min(SCAN, Math.max(10, 2 * rows.length)) }
  }
}

const tooMuch: SheetAnswer<never> = {
  ok: false,
  message: `the rows that match take more than ${MAX_RECORD_BYTES.toLocaleString('en-US')} bytes; lower the limit or narrow the conditions`,
}

/** `looked`: among how many rows those of the page were taken, from the first on. */
type ScannedRow = StoredRow & { seq: number; cells: string | null; looked: number }
type ScanPlace = { after: number | null; limit: number }

async function scan(
  db: Db,
  sheet: SheetRecord,
  { after, limit }: ScanPlace,
  order: 'oldest' | 'newest',
): Promise<ScannedRow[]> {
  const { org_id, sheet_id } = sheet
  const [beyond, direction] = order === 'oldest' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  const behind = after === null ? sql`` : sql`and r.seq ${beyond} ${after}::bigint`
  const { rows } = await sql<ScannedRow>`
    with weighed as (
      select r.row_id, r.seq, r.data, pg_column_size(r.data) + coalesce((select sum(pg_column_size(c.outputs))
        from cells c where c.org_id = r.org_id and c.row_id = r.row_id), 0) as bytes
      from rows r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
        ${behind}
      order by r.seq ${direction} limit ${sql.lit(limit)}
    ), added as (
      select *, sum(bytes) over (order by seq ${direction}) - bytes as before, count(*) over ()::int as looked from weighed
    )
    select r.row_id, r.seq, r.data::text as data, r.looked,
      (select json_object_agg(c.action, json_build_array(c.status, c.outputs))
        from cells c where c.org_id = ${org_id} and c.row_id = r.row_id)::text as cells
    from added r where r.before < ${SCAN_BYTES} order by r.seq ${direction}`.execute(db)
  return rows
}

function matches(row: ScannedRow, definition: Definition, groups: ConditionGroup[]): boolean {
  const { lookup } = createRowScope(definition, row, () => true, new Map())
  return evaluate(groups, (text) => resolveValue(parseTemplate(text), lookup).value, {
    resolveValue: (text) => text,
  })
}

/** A row as a record: inputs by name, outputs as `<action>.<output>`. */
function recordOf(row: ScannedRow, definition: Definition): Record<string, unknown> {
  const data = parseLossless(row.data) as Record<string, unknown>
  const cells =
    row.cells === null ? {} : (parseLossless(row.cells) as Record<string, [string, object | null]>)
  const inputs = definition.inputs.map((input) => [input.name, data[input.column] ?? null])
  const outputs = Object.entries(cells).flatMap(([action, [, values]]) =>
    Object.entries(values ?? {}).map(([name, value]) => [`${action}.${name}`, value]),
  )
  return { row_id: row.row_id, ...Object.fromEntries(inputs), ...Object.fromEntries(outputs) }
}
