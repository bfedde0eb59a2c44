import { type RawBuilder, sql } from 'kysely'
import type { ExportExtra } from '#contract/exports.ts'
import type { ExportSelection } from '../../database/connection/json-columns.ts'
import type { Snapshot } from '../../database/connection/snapshot.ts'
import { type Condition, conditionsOf } from '../../sheets/store/row-filters.ts'
import { rowsInOrder } from '../../sheets/store/row-orders.ts'
import type { ExportRecord } from './exports.ts'

/**
 * The organisation of the snapshot, read from the connection. COPY puts values into its text, and a plan for an
 * organisation newer than the statistics would read all its cells for each row.
 */
const ORG = sql`(select loam_org())`

/** The origin of a column's values: an input, or an output of the action at an index in `actions`. */
export type ColumnSource =
  | { input: number }
  | { action: number; output: string; steps?: readonly (string | number)[]; whole?: string | undefined }
  | { action: number; extra: ExportExtra }

/** The rows of an export and the cells joined to them. */
export type ExportScope = {
  where: Condition
  /** Selects the rows `r`, with their places if they have an order. */
  rows: RawBuilder<unknown>
  place: RawBuilder<unknown>
  actions: string[]
  include: readonly ExportExtra[]
}

/** Determines the rows of the export from the counters of the snapshot. Returns null if the sheet no longer exists. */
export async function scopeOfExport(
  snapshot: Pick<Snapshot, 'query'>,
  { sheet_id, below_seq, selection }: Pick<ExportRecord, 'sheet_id' | 'below_seq' | 'selection'>,
  actions: string[],
  include: readonly ExportExtra[],
): Promise<{ scope: ExportScope; total: number } | null> {
  const [counter] = await snapshot.query(sql<{ first_seq: number }>`
    select first_seq from sheet_counters where org_id = ${ORG} and sheet_id = ${sheet_id}`)
  if (counter === undefined) return null
  const conditions = [
    sql<boolean>`r.org_id = ${ORG} and r.sheet_id = ${sheet_id}
      and r.seq >= ${counter.first_seq} and r.seq < ${below_seq}`,
    ...selectionConditions(sheet_id, selection),
  ]
  const where: Condition = sql`${sql.join(conditions, sql` and `)}`
  const { order } = selection
  const rows = order === undefined ? sql`rows r` : rowsInOrder({ org_id: ORG, sheet_id }, order)
  const place = order === undefined ? sql`r.seq` : sql`place.place`
  const [counted] = await snapshot.query(
    sql<{ total: number }>`select count(*) as total from ${rows} where ${where}`,
  )
  return { scope: { where, rows, place, actions, include }, total: counted?.total ?? 0 }
}

function selectionConditions(
  sheet_id: string,
  { rowIds, excludeRowIds = [], order: _order, createdAt, ...selection }: ExportSelection,
): Condition[] {
  return [
    ...conditionsOf({ org_id: ORG, sheet_id }, { ...selection, createdAt }),
    ...(rowIds === undefined ? [] : [sql<boolean>`(${isAmong(rowIds)}) is true`]),
    ...(excludeRowIds.length === 0 ? [] : [sql<boolean>`(${isAmong(excludeRowIds)}) is false`]),
  ]
}

/** Tests membership through a subquery, which is hashed: `= any` with a parameter compares each row with each id. */
const isAmong = (ids: readonly string[]): Condition => sql`r.row_id in (select unnest(${ids}::uuid[]))`

/** Lists the output names that cells of these actions hold, by action. */
export async function listOutputNames(
  snapshot: Snapshot,
  { where, rows }: ExportScope,
  actions: readonly string[],
): Promise<Map<string, string[]>> {
  if (actions.length === 0) return new Map()
  const found = await snapshot.query(sql<{ action: string; names: string[] }>`
    select action, array_agg(name order by name) as names from (
      select distinct c.action, name from ${rows}
      join cells c on c.org_id = ${ORG} and c.row_id = r.row_id and c.action = any(${actions}::text[])
      cross join lateral jsonb_object_keys(c.outputs) as name
      where ${where}
    ) found group by action`)
  return new Map(found.map(({ action, names }) => [action, names]))
}

/** Selects a CSV line for each record: texts, or nothing for missing values. */
export function textRows(scope: ExportScope, columns: readonly ColumnSource[]): RawBuilder<unknown> {
  // A single empty column would be a blank line, which readers skip. Then an empty value is written as "".
  const finish = (text: RawBuilder<unknown>) =>
    columns.length === 1 ? sql`coalesce(nullif(${text}, ''), '""')` : text
  const values = columns.map((column, n) => sql`${valueOf(column)} as ${sql.ref(`v${n}`)}`)
  const texts = columns.map((_, n) => finish(cellOf(sql.ref(`t.v${n}`))))
  // OFFSET 0 makes PostgreSQL extract each value from its JSON once, not at every use.
  return sql`select ${concatCells(texts)}
    from (select ${sql.join([sql`s.seq`, ...values])} from (${rowsOf(scope)}) s offset 0) t order by t.seq`
}

/** Selects the headers as a record, written by the same rules as values. */
export function headerRow(headers: readonly string[]): RawBuilder<unknown> {
  return sql`select ${concatCells(headers.map((header) => cellOf(sql`${header}::text`)))}`
}

/** Selects a JSON object per line, with keys in the order of the columns. */
export function objectLines(
  scope: ExportScope,
  columns: readonly (ColumnSource & { header: string })[],
): RawBuilder<unknown> {
  const parts = columns.flatMap((column, n) => [
    sql`${`${n === 0 ? '' : ','}${JSON.stringify(column.header)}:`}`,
    jsonOf(column),
  ])
  return lines(scope, [sql`'{'`, ...parts, sql`'}'`])
}

/** Selects a JSON array per line. Objects and arrays in it are texts. */
export function arrayLines(scope: ExportScope, columns: readonly ColumnSource[]): RawBuilder<unknown> {
  const parts = columns.flatMap((column, n) => [sql`${n === 0 ? '' : ','}`, scalarOf(column)])
  return lines(scope, [sql`'['`, ...parts, sql`']'`])
}

/** Concatenates cells, also if there are none. */
const concatCells = (cells: RawBuilder<unknown>[]) =>
  concat(cells.flatMap((cell, n) => [sql`${n === 0 ? '' : ','}`, cell]).concat(sql`''`))

function lines(scope: ExportScope, parts: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`select ${concat(parts)} from (${rowsOf(scope)}) s order by s.seq`
}

/** The maximum number of arguments of an SQL function. */
const MAX_ARGUMENTS = 100

function concat(parts: RawBuilder<unknown>[]): RawBuilder<unknown> {
  if (parts.length <= MAX_ARGUMENTS) return sql`concat(${sql.join(parts)})`
  const groups = Array.from({ length: Math.ceil(parts.length / MAX_ARGUMENTS) }, (_, n) =>
    concat(parts.slice(n * MAX_ARGUMENTS, (n + 1) * MAX_ARGUMENTS)),
  )
  return concat(groups)
}

/** Selects the rows. Large values pass the sort as pointers and are read only when their line is built. */
function rowsOf({ where, rows, place, actions, include }: ExportScope): RawBuilder<unknown> {
  const outputs = actions.map((_, n) => {
    const extras = include.map((extra) => sql`, ${sql.ref(`c${n}.${extra}`)} as ${sql.ref(`${extra}${n}`)}`)
    return sql`, ${sql.ref(`c${n}.outputs`)} as ${sql.ref(`o${n}`)}${sql.join(extras, sql``)}`
  })
  const joins = actions.map((action, n) => {
    const cell = sql.raw(`c${n}`)
    return sql` left join cells ${cell} on ${cell}.org_id = ${ORG} and ${cell}.row_id = r.row_id
      and ${cell}.action = ${action}`
  })
  const none = sql``
  return sql`select ${place} as seq, r.data${sql.join(outputs, none)} from ${rows}${sql.join(joins, none)} where ${where} order by ${place}`
}

function valueOf(column: ColumnSource): RawBuilder<unknown> {
  if ('extra' in column) return sql.ref(`s.${column.extra}${column.action}`)
  return 'input' in column ? sql`s.data ->> ${String(column.input)}` : sql`${outputOf(column)} #>> '{}'`
}

/** Selects an output as JSON, or the value at the end of a path into it. */
function outputOf({ action, output, steps, whole }: Extract<ColumnSource, { output: string }>) {
  const head = sql`(${sql.ref(`s.o${action}`)} -> ${output})`
  return steps === undefined
    ? head
    : sql`loam_at(${head}, ${JSON.stringify(steps)}::jsonb, ${whole ?? null}::text)`
}

function structureOf(column: ColumnSource): RawBuilder<unknown> {
  if ('extra' in column) return sql`(to_jsonb(${sql.ref(`s.${column.extra}${column.action}`)}))`
  return 'input' in column ? sql`(s.data -> ${String(column.input)})` : sql`(${outputOf(column)})`
}

function jsonOf(column: ColumnSource): RawBuilder<unknown> {
  return sql`coalesce(${structureOf(column)}::text, 'null')`
}

function scalarOf(column: ColumnSource): RawBuilder<unknown> {
  const value = structureOf(column)
  return sql`case when jsonb_typeof${value} in ('object', 'array') then to_json(${value}::text)::text
    else coalesce(${value}::text, 'null') end`
}

/**
 * The characters that start a formula: = + - @, tab, carriage return, line feed, and the wide forms of the first four.
 */
const FORMULA_STARTS = [61, 43, 45, 64, 9, 13, 10, 0xff1d, 0xff0b, 0xff0d, 0xff20]
/** Matches numbers and telephone numbers. A spreadsheet may calculate with them, but executes nothing (D42). */
const HARMLESS = String.raw`^[+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?$`

/**
 * Matches a cell separator of some reader, followed by the start of a formula that is not a number. Same as in
 * contract/table-text.ts.
 */
const INNER_FORMULA = String.raw`([;\t\r\n][ "]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])(?![+-][0-9 ().,-]*([eE][+-]?[0-9]+)?%?([;\t\r\n]|$))`
/** The characters of fields that must be quoted, because a spreadsheet of some locale would split them. */
const SEPARATORS = '",;\t\r\n'

/**
 * Writes a cell of CSV. An apostrophe goes before text that a spreadsheet would execute as a formula, also inside the
 * cell.
 */
function cellOf(text: RawBuilder<unknown>): RawBuilder<unknown> {
  const first = withoutFirstFormula(text)
  return sql`case when translate(${text}, ${SEPARATORS}, '') <> ${text}
    then '"' || replace(regexp_replace(${first}, ${INNER_FORMULA}, '\\1''', 'g'), '"', '""') || '"' else ${first} end`
}

function withoutFirstFormula(text: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ascii(${text}) in (${sql.join(FORMULA_STARTS.map((code) => sql.lit(code)))})
    and ${text} !~ ${HARMLESS} then '''' || ${text} else ${text} end`
}
