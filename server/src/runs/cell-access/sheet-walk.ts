import { sql } from 'kysely'
import { evaluate, type Resolve } from '../../catalog/chain/condition-evaluate.ts'
import { ConditionIndex, findRequiredText, type RequiredText } from '../../catalog/chain/condition-index.ts'
import { type ConditionGroup, parseConditionGroups } from '../../catalog/chain/condition-shape.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { findFormerNames, renameInText } from '../../catalog/chain/input-renames.ts'
import { parseTemplate, resolveValue } from '../../catalog/chain/references.ts'
import { createRowScope } from '../../catalog/chain/row-scope.ts'
import type { LookupQuery, SheetAnswer } from '../../catalog/define.ts'
import { cancellable } from '../../database/connection/cancellation.ts'
import type { Db, Store } from '../../database/connection/db.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { createBatcher, ItemFault } from '../../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../../lib/timing/keyed-batcher.ts'
import { pause } from '../../lib/timing/turns.ts'
import type { StoredRow } from '../../sheets/store/row-values.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import type { StatementWatch } from './acting-flight.ts'
import type { Target } from './target-sheet.ts'

const SCAN = 1000
/** The stored bytes that one page of a scan reads. A larger row goes alone. */
const SCAN_BYTES = 256 * 1024
/** The bytes of JSON that the records of a lookup may take. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024
/** The same for all lookups of a walk. A lookup that goes beyond it looks again in the next walk. */
const MAX_WALK_BYTES = 64 * 1024 * 1024
/** The most lookups of a walk. A lookup that checks every row counts for several. */
const MAX_TOGETHER = 1000
const SIZE_OF_UNINDEXED = 10

type Call = { signal: AbortSignal; database: StatementWatch }
type Order = LookupQuery['order']
type Answer = SheetAnswer<{ count: number; records: Record<string, unknown>[] }>

/** Looks up rows of a sheet on behalf of a cell. */
export type LookUp = (target: Target, query: LookupQuery, call: Call) => Promise<Answer>

const AGAIN = Symbol('again')

/**
 * Creates a lookup of rows for cells. Lookups of one organisation in the same sheet at the same time share a walk over
 * its rows, which begins after all of them have asked: each page is read and parsed once, and a row is shown only to
 * lookups that it may meet.
 */
export function createSheetWalks(store: Store): LookUp {
  const search = createKeyedBatcher<Item, Answer | typeof AGAIN>({
    keyOf: ({ target: { sheet }, order }) => `${sheet.org_id} ${sheet.sheet_id} ${sheet.revision} ${order}`,
    make: (first) => openLine(store, first),
  })

  return async (target, { conditions, limit, order }, call) => {
    const parsed = parseConditionGroups(conditions, 'conditions')
    if (!parsed.ok) {
      const message = parsed.errors.map((error) => `${error.field}: ${error.message}`).join('; ')
      return { ok: false, message }
    }
    // The run may have begun before inputs of the other sheet were renamed.
    const former = findFormerNames(target.definition.inputs)
    const groups = former === null ? parsed.value : renameVariables(parsed.value, former)
    for (;;) {
      call.signal.throwIfAborted()
      const item = { target, order, search: new Search(groups, limit, call) }
      const answer = await untilAborted(call.signal, search(item))
      if (answer !== AGAIN) return answer
    }
  }
}

function renameVariables(
  groups: ConditionGroup[],
  renames: NonNullable<ReturnType<typeof findFormerNames>>,
): ConditionGroup[] {
  return groups.map((group) => ({
    ...group,
    conditions: group.conditions.map((leaf) => ({ ...leaf, variable: renameInText(leaf.variable, renames) })),
  }))
}

/** Batches lookups in one sheet in one order. Lookups that arrive during a walk share the next one. */
function openLine(store: Store, { target, order }: Item) {
  const line: Line = { waiting: new Set() }
  const add = createBatcher<Search, Answer | typeof AGAIN>({
    maxItems: MAX_TOGETHER,
    maxInFlight: 1,
    byTurns: true,
    sizeOf: ({ required }) => (required === undefined ? SIZE_OF_UNINDEXED : 1),
    run: (searches) => {
      for (const search of searches) line.waiting.delete(search)
      return walkFor(store, { ...target, order, line }, searches)
    },
  })
  return ({ search }: Item) => {
    line.waiting.add(search)
    if (line.statement !== undefined) noteFor(search, line.statement)
    return add(search)
  }
}

/** Rejects when the signal is aborted, whatever happens to the promise. */
async function untilAborted<Result>(signal: AbortSignal, promise: Promise<Result>): Promise<Result> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

type Item = { target: Target; order: Order; search: Search }
/** Lookups that wait for the next walk, and the statement of the current one. */
type Line = { waiting: Set<Search>; statement?: Promise<unknown> | undefined }

/** A cell's lookup during a walk. */
class Search {
  readonly groups: ConditionGroup[]
  readonly required: RequiredText | undefined
  readonly call: Call
  readonly #limit: number
  readonly #records: Record<string, unknown>[] = []
  #count = 0
  #end: Answer | typeof AGAIN | ItemFault | undefined
  bytes = 0

  constructor(groups: ConditionGroup[], limit: number, call: Call) {
    this.groups = groups
    this.required = findRequiredText(groups)
    this.call = call
    this.#limit = limit
  }

  get isOver(): boolean {
    return this.#end !== undefined || this.call.signal.aborted
  }

  /** Counts a row that meets the conditions, and keeps it as a record. */
  add(row: ScannedRow, definition: Definition): void {
    this.#count += 1
    if (this.#records.length >= this.#limit) return
    this.bytes += row.data.length + (row.cells?.length ?? 0)
    if (this.bytes > MAX_RECORD_BYTES) this.finish(TOO_MUCH)
    else this.#records.push(recordOf(row, definition))
  }

  finish(end: Answer | typeof AGAIN | ItemFault): void {
    this.#end = end
    this.#records.length = 0
    this.bytes = 0
  }

  /** Returns the result of the lookup, after the walk has ended or failed. */
  answer(failure: ItemFault | undefined): Answer | typeof AGAIN | ItemFault {
    const { signal } = this.call
    if (signal.aborted) return new ItemFault(signal.reason)
    return this.#end ?? failure ?? { ok: true, value: { count: this.#count, records: this.#records } }
  }
}

type Walk = Target & { order: Order; line: Line }

/**
 * Walks over the sheet and answers the lookups, also those that failed by themselves. The running statement is
 * cancelled when all lookups are over.
 */
async function walkFor(
  store: Store,
  walk: Walk,
  searches: readonly Search[],
): Promise<(Answer | typeof AGAIN | ItemFault)[]> {
  const allOver = new AbortController()
  const onAbort = () => {
    if (searches.every(({ isOver }) => isOver)) allOver.abort()
  }
  for (const { call } of searches) call.signal.addEventListener('abort', onAbort, { once: true })
  let failure: ItemFault | undefined
  try {
    onAbort()
    const db = store.org(walk.sheet.org_id)
    await cancellable(store, db, { signal: allOver.signal }, (trx) => walkOver(trx, walk, searches))
  } catch (cause) {
    failure = new ItemFault(cause)
  } finally {
    for (const { call } of searches) call.signal.removeEventListener('abort', onAbort)
  }
  return searches.map((search) => search.answer(failure))
}

/**
 * Walks over the sheet's rows in order and gives each to the lookups whose conditions it meets. Conditions may refer to
 * inputs and outputs.
 */
async function walkOver(db: Db, walk: Walk, searches: readonly Search[]): Promise<void> {
  const index = new ConditionIndex<Search>()
  for (const search of searches) index.add(search, search.required)
  let keptBytes = 0
  let place: ScanPlace = { after: null, limit: SCAN }
  for (;;) {
    const live = searches.filter(({ isOver }) => !isOver)
    if (live.length === 0) return
    const rows = await watchFor(live, walk.line, scan(db, walk.sheet, place, walk.order))
    for (const row of rows) {
      const { lookup } = createRowScope(walk.definition, row, () => true, new Map())
      const resolve = (text: string) => resolveValue(parseTemplate(text), lookup).value
      for (const search of index.find(resolve)) {
        if (search.isOver) continue
        keptBytes -= search.bytes
        show(search, row, resolve, walk.definition)
        // Fewer lookups stay within the bound: a single one always does.
        if (keptBytes + search.bytes > MAX_WALK_BYTES) search.finish(AGAIN)
        keptBytes += search.bytes
        await pause()
      }
      await pause()
    }
    const looked = rows.at(-1)?.looked ?? 0
    if (rows.length === looked && looked < place.limit) return
    // If rows are large, few of the next ones will fit either.
    place = { after: rows.at(-1)?.seq ?? null, limit: Math.min(SCAN, Math.max(10, 2 * rows.length)) }
  }
}

/**
 * Notes a statement of the walk for each of its lookups, and for those that wait for the walk: a cell whose timeout
 * ends while the database hangs is run again.
 */
async function watchFor<Result>(
  live: readonly Search[],
  line: Line,
  statement: Promise<Result>,
): Promise<Result> {
  line.statement = statement
  for (const search of [...live, ...line.waiting]) noteFor(search, statement)
  try {
    return await statement
  } finally {
    line.statement = undefined
  }
}

function noteFor({ call }: Search, statement: Promise<unknown>): void {
  call.database.watch(statement).catch(() => undefined)
}

/** Evaluates a row for a lookup. A lookup that cannot be evaluated fails alone. */
function show(search: Search, row: ScannedRow, resolve: Resolve, definition: Definition): void {
  try {
    if (evaluate(search.groups, resolve, { resolveValue: (text) => text })) search.add(row, definition)
  } catch (cause) {
    search.finish(new ItemFault(cause))
  }
}

const TOO_MUCH: Answer = {
  ok: false,
  message: `the rows that match take more than ${MAX_RECORD_BYTES.toLocaleString('en-US')} bytes; lower the limit or narrow the conditions`,
}

/** `looked`: the number of rows that those of the page were taken from, from the first on. */
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

/** Returns a row as a record: inputs by name, outputs as `<action>.<output>`. */
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
