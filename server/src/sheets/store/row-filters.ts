import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { CreatedAtFilter, FilterOperator } from '#contract/rows.ts'
import type { Selection, ValueFilter } from '../../database/tables/selection.ts'
import { asNumber } from './row-columns.ts'
import { failedFor, type SheetOfRows, statusCondition } from './status-filters.ts'
import { containsInJson, holds, valueCondition } from './value-filters.ts'

export type Condition = RawBuilder<SqlBool>

/**
 * Lists the conditions of a selection on the rows `r` of a sheet, to be joined by AND. Values from callers are always
 * parameters.
 */
export function conditionsOf(sheet: SheetOfRows, selection: Selection): Condition[] {
  return [
    ...selection.filters.map(filterCondition),
    ...selection.statusFilters.map((filter) => statusCondition(sheet, filter)),
    ...(selection.cause === undefined ? [] : [failedFor(selection.cause)]),
    // `is true` keeps PostgreSQL from using an index: in the order of the sheet, rows outside the range are skipped and never
    // read whole.
    ...[selection.createdAt, selection.createdAlso].flatMap((created) =>
      created === undefined ? [] : [sql<SqlBool>`(${createdWithin(created)}) is true`],
    ),
    ...(selection.find === undefined ? [] : [holdsText(selection.find)]),
  ]
}

/**
 * Returns the condition that an input, an output or an error of the row contains the text. Structures are searched as JSON.
 */
function holdsText(text: string): Condition {
  return sql<SqlBool>`(${rowHolds(text)}
    or exists (select from cells c where c.org_id = r.org_id and c.row_id = r.row_id and ${cellHolds(text)}))`
}

/** Returns the condition that a value of the row `r` contains the text. */
export function rowHolds(text: string): Condition {
  return someValueHolds(sql`r.data`, text)
}

/** Returns the condition that an output or the error of the cell `c` contains the text. */
export function cellHolds(text: string): Condition {
  return sql<SqlBool>`(${holds(sql`c.error`, text)} or ${someValueHolds(sql`c.outputs`, text)})`
}

function someValueHolds(json: RawBuilder<unknown>, text: string): Condition {
  // In the JSON of all values, the text stands as it is or escaped. This quick check skips most rows.
  const written = JSON.stringify(text).slice(1, -1)
  const printed = sql`${json}::text`
  const mayHold =
    written === text
      ? holds(printed, text)
      : sql<SqlBool>`(${holds(printed, text)} or ${holds(printed, written)})`
  return sql<SqlBool>`(${mayHold} and exists (
    select from jsonb_each_text(case when jsonb_typeof(${json}) = 'object' then ${json} end) v
    where ${holds(sql`v.value`, text)}))`
}

type Text = RawBuilder<string | null>

/** Selects the value of a column as text; null if it is missing. Structures become JSON. */
function selectText(column: number): Text {
  return sql<string | null>`r.data ->> ${String(column)}`
}

const one = (values: string[]): string => values[0] ?? ''

function contains(column: number, text: Text, value: string): Condition {
  return containsInJson(sql`r.data -> ${String(column)}`, holds(text, value), value)
}

/** Returns the condition of a filter on an input or an output of the row `r`. */
function filterCondition(filter: ValueFilter): Condition {
  const { operator, values = [] } = filter
  const test = OPERATORS[operator]
  if (test === undefined || !('column' in filter) || filter.steps !== undefined) return valueCondition(filter)
  return test(selectText(filter.column), values, filter.column)
}

/** Returns the condition that an input is missing, null, or an empty text, list or object. */
const isEmpty = (text: Text, column: number): Condition =>
  sql`(case when ${text} in ('[]', '{}') then jsonb_typeof(r.data -> ${String(column)}) <> 'string' else coalesce(${text}, '') = '' end)`

/** The operators that compare an input as its text. All else is compared as conditions do. */
const OPERATORS: Partial<
  Record<FilterOperator, (text: Text, values: string[], column: number) => Condition>
> = {
  'is equal to': (text, values) => sql`(${text}) = ${one(values)}`,
  'not equal to': (text, values) => sql`(${text}) is distinct from ${one(values)}`,
  'is empty': (text, _values, column) => isEmpty(text, column),
  'not empty': (text, _values, column) => sql`not ${isEmpty(text, column)}`,
  contains: (text, values, column) => contains(column, text, one(values)),
  'does not contain': (text, values, column) =>
    sql`not coalesce(${contains(column, text, one(values))}, false)`,
  'contains any of': (text, values) => sql`(${text}) = any(${values}::text[])`,
  'not contains any of': (text, values) => sql`coalesce((${text}) <> all(${values}::text[]), true)`,
  'greater than': (text, values) => sql`${asNumber(text)} > ${one(values)}::numeric`,
  'less than': (text, values) => sql`${asNumber(text)} < ${one(values)}::numeric`,
}

const DAY = 86_400_000

/**
 * Returns the condition on the time of creation. The time is the beginning of the row id, so this is a range of the primary
 * key with both ends.
 */
export function createdWithin(filter: CreatedAtFilter): Condition {
  const { from, to } = createdRange(filter)
  return sql`r.row_id >= ${firstIdAt(from)}::uuid and r.row_id < ${firstIdAt(to)}::uuid`
}

/** Returns the milliseconds since 1970 that the filter allows: from the first on, up to but without `to`. */
export function createdRange({ operator, values }: CreatedAtFilter): { from: number; to: number } {
  const [first = '', second = first] = values
  switch (operator) {
    case 'equals to':
    case 'is between':
      return { from: getFirstMs(first), to: getEndMs(second) }
    case 'greater than':
      return { from: getEndMs(first), to: LAST_MS }
    case 'greater than or equals to':
      return { from: getFirstMs(first), to: LAST_MS }
    case 'less than':
      return { from: 0, to: getFirstMs(first) }
    case 'less than or equals to':
      return { from: 0, to: getEndMs(first) }
  }
}

const isDay = (moment: string): boolean => moment.length === 10

/** Returns the first millisecond of a moment. Times without an offset are UTC. A bare date is the whole day (D88). */
function getFirstMs(moment: string): number {
  return Date.parse(isDay(moment) || /(Z|[+-]\d\d:?\d\d)$/i.test(moment) ? moment : `${moment}Z`)
}

function getEndMs(moment: string): number {
  return getFirstMs(moment) + (isDay(moment) ? DAY : 1)
}

const LAST_MS = 0xffff_ffff_ffff

function firstIdAt(ms: number): string {
  const hex = Math.min(Math.max(0, ms), LAST_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
