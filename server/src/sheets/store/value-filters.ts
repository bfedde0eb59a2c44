import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isDecimal } from '#contract/decimal.ts'
import { parseInstant } from '#contract/instant.ts'
import type { FilterOperator } from '#contract/rows.ts'
import type { ValueFilter } from '../../database/tables/selection.ts'
import { asInstant, asNumber, type ReadOutput, valueJson } from './row-columns.ts'

type Condition = RawBuilder<SqlBool>
type Text = RawBuilder<string | null>
type Json = RawBuilder<unknown>
/** The value `v` that a test is about: its JSON, and its text, which is empty if the value is missing. */
type Test = (values: readonly string[], kind: ValueFilter['kind']) => Condition

const json: Json = sql`v.json`
const text: Text = sql`v.text`

/**
 * Returns the condition of a filter on a value of the row `r`. It compares as `run_if` does (condition-evaluate.ts). The value is
 * read once, and is then an inner query that PostgreSQL does not merge with others.
 */
export function valueCondition(
  { operator, values = [], kind, ...source }: ValueFilter,
  readOutput?: ReadOutput,
): Condition {
  const value = valueJson(source, readOutput)
  const read = kind === 'list' ? openList(value) : value
  return sql`(select ${TESTS[operator](values, kind)} from (
    select one.json, coalesce(one.json #>> '{}', '') as text from (select ${read} as json offset 0) one offset 0) v)`
}

/** Returns a list that is stored as its JSON text as the list. */
const openList = (value: Json): Json =>
  sql`(select coalesce(loam_open(raw.json), raw.json) from (select ${value} as json offset 0) raw)`

const negate =
  (test: Test): Test =>
  (values, kind) =>
    sql`not coalesce(${test(values, kind)}, false)`

const isSame: Test = ([value = '']) =>
  sql`(${text} = ${value}${isDecimal(value) ? sql` or ${asNumber(text)} = ${value}::numeric` : sql``}${
    isContainer(value) ? sql` or ${json} = ${value}::jsonb` : sql``
  })`

/** Tells whether a text is a JSON list or object that PostgreSQL can read. */
function isContainer(value: string): boolean {
  if (!/^\s*[[{]/.test(value) || value.includes('\\u')) return false
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

const isEmpty: Test = () => sql`(${json} is null or ${json} in ('null', '""', '[]', '{}'))`

/** Compares with several values exactly; of a list, each element. */
const isAnyOf: Test = (values) => {
  const numbers = values.filter(isDecimal)
  return sql`(${text} = any(${values}::text[])
    ${numbers.length === 0 ? sql`` : sql`or ${asNumber(text)} = any(${numbers}::numeric[])`}
    or jsonb_typeof(${json}) = 'array' and exists (
      select from jsonb_array_elements(${json}) i where i.value #>> '{}' = any(${values}::text[])))`
}

const contains: Test = ([value = ''], kind) => {
  const within = holds(text, value)
  return kind === 'text' ? within : containsInJson(json, within, value)
}

/**
 * Returns the condition for `contains`, with the meaning of conditions (D96): a text within any text, a whole item in a list.
 */
export function containsInJson(value: Json, within: Condition, wanted: string): Condition {
  return sql`case jsonb_typeof(${value}) when 'array' then ${listHolds(value, wanted)} else ${within} end`
}

export function holds(searched: RawBuilder<unknown>, wanted: string): Condition {
  return sql<SqlBool>`strpos(lower(${searched}), lower(${wanted}::text)) > 0`
}

/** Returns the condition that an item of the list is the value, or is an object with a field that is. */
function listHolds(list: Json, value: string): Condition {
  const item = sql<string | null>`f.text`
  const sameNumber = isDecimal(value) ? sql`or ${asNumber(item)} = ${value}::numeric` : sql``
  return sql`exists (
    select from jsonb_array_elements(${list}) i, lateral (
      select i.value #>> '{}' as text where jsonb_typeof(i.value) <> 'object'
      union all
      select v.value from jsonb_each_text(case when jsonb_typeof(i.value) = 'object' then i.value end) v
    ) f
    where lower(coalesce(f.text, '')) = lower(${value}::text) ${sameNumber})`
}

const startsWith: Test = ([value = '']) => sql`starts_with(lower(${text}), lower(${value}::text))`
const endsWith: Test = ([value = '']) =>
  sql`right(lower(${text}), length(lower(${value}::text))) = lower(${value}::text)`

const compareNumbers =
  (sign: RawBuilder<unknown>): Test =>
  ([value = '']) =>
    sql`${asNumber(text)} ${sign} ${value}::numeric`

const compareDates =
  (sign: RawBuilder<unknown>): Test =>
  ([value = '']) =>
    sql`${asInstant(text)} ${sign} ${parseInstant(value)}::double precision`

const isBetween: Test = ([low = '', high = '']) =>
  isDecimal(low)
    ? sql`${asNumber(text)} between ${low}::numeric and ${high}::numeric`
    : sql`${asInstant(text)} between ${parseInstant(low)}::double precision and ${parseInstant(high)}::double precision`

const TESTS: Record<FilterOperator, Test> = {
  'is equal to': isSame,
  'not equal to': negate(isSame),
  'is empty': isEmpty,
  'not empty': negate(isEmpty),
  contains,
  'does not contain': negate(contains),
  'contains any of': isAnyOf,
  'not contains any of': negate(isAnyOf),
  'starts with': startsWith,
  'does not start with': negate(startsWith),
  'ends with': endsWith,
  'does not end with': negate(endsWith),
  'greater than': compareNumbers(sql`>`),
  'less than': compareNumbers(sql`<`),
  'greater than or equal to': compareNumbers(sql`>=`),
  'less than or equal to': compareNumbers(sql`<=`),
  'is between': isBetween,
  'is after': compareDates(sql`>`),
  'is before': compareDates(sql`<`),
}
