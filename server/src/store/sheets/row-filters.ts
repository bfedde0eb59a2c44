import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type CreatedAtFilter, type FilterOperator, MAX_DECIMAL, type StatusFilter } from '#contract/rows.ts'
import { flightAction } from '../runs/flights.ts'
import type { Selection } from './selection.ts'

export type Condition = RawBuilder<SqlBool>

/** All conditions of a selection on the table `rows r`, to be AND-ed. What a caller sent is only ever a parameter. */
export function conditionsOf(selection: Selection): Condition[] {
  return [
    ...selection.filters.map(({ column, operator, values }) =>
      OPERATORS[operator](textOf(column), values ?? []),
    ),
    ...selection.statusFilters.map(statusCondition),
    // As a question, which no index answers: in the order of the sheet a range of ids is passed over, never read whole.
    ...(selection.createdAt === undefined
      ? []
      : [sql<SqlBool>`(${createdWithin(selection.createdAt)}) is true`]),
    ...(selection.find === undefined ? [] : [holdsText(selection.find)]),
  ]
}

/** In a value of its inputs, in an output or in an error of its cells; structures are searched as their JSON. */
function holdsText(text: string): Condition {
  return sql<SqlBool>`(${rowHolds(text)}
    or exists (select from cells c where c.org_id = r.org_id and c.row_id = r.row_id and ${cellHolds(text)}))`
}

/** Of the table `rows r`. */
export function rowHolds(text: string): Condition {
  return someValueHolds(sql`r.data`, text)
}

/** Of the table `cells c`. */
export function cellHolds(text: string): Condition {
  return sql<SqlBool>`(${holds(sql`c.error`, text)} or ${someValueHolds(sql`c.outputs`, text)})`
}

function holds(searched: RawBuilder<unknown>, text: string): Condition {
  return sql<SqlBool>`strpos(lower(${searched}), lower(${text}::text)) > 0`
}

function someValueHolds(json: RawBuilder<unknown>, text: string): Condition {
  // Within the JSON of all values it stands as it is, or as JSON writes it: most rows are passed over at a glance.
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

/** The value of a column as text; null when it is missing. Structures read as their JSON. */
function textOf(column: number): Text {
  return sql<string | null>`r.data ->> ${String(column)}`
}

const one = (values: string[]): string => values[0] ?? ''

const OPERATORS: Record<FilterOperator, (text: Text, values: string[]) => Condition> = {
  'is equal to': (text, values) => sql`(${text}) = ${one(values)}`,
  'not equal to': (text, values) => sql`(${text}) is distinct from ${one(values)}`,
  'is empty': (text) => sql`coalesce(${text}, '') = ''`,
  'not empty': (text) => sql`coalesce(${text}, '') <> ''`,
  contains: (text, values) => sql`strpos(lower(${text}), lower(${one(values)}::text)) > 0`,
  'does not contain': (text, values) =>
    sql`coalesce(strpos(lower(${text}), lower(${one(values)}::text)), 0) = 0`,
  'contains any of': (text, values) => sql`(${text}) = any(${values}::text[])`,
  'not contains any of': (text, values) => sql`coalesce((${text}) <> all(${values}::text[]), true)`,
  'greater than': (text, values) => sql`${asNumber(text)} > ${one(values)}::numeric`,
  'less than': (text, values) => sql`${asNumber(text)} < ${one(values)}::numeric`,
}

/**
 * The same decimals as DECIMAL in the contract, and no longer ones than `numeric` takes in any case. Anything else is no
 * number and fails every comparison.
 */
function asNumber(text: Text): RawBuilder<number | null> {
  return sql`case when length(${text}) <= ${sql.lit(MAX_DECIMAL)} and (${text}) ~ '^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$' then (${text})::numeric end`
}

export const FAILED: readonly string[] = ['failed', 'error', 'out_of_credits']
const IN_FLIGHT: ReadonlySet<string> = new Set(['queued', 'running'])

/**
 * Results are cells; a flight is at the first action of its run without one. A row without either has no such cell. Only what
 * can hold one of the statuses is looked at, so that the few cells that failed are found by their index, and from them the rows.
 */
function statusCondition({ action_instance_id: action, is, is_not }: StatusFilter): Condition {
  const statuses: readonly string[] = [...new Set<string>(is ?? is_not ?? [])]
  const results = statuses.filter((status) => !IN_FLIGHT.has(status))
  const flying = statuses.filter((status) => IN_FLIGHT.has(status))
  const few = results.every((status) => FAILED.includes(status))
  const places = [
    ...(results.length === 0 ? [] : [withResult(results, few, action)]),
    ...(flying.length === 0 ? [] : [inFlight(flying, action)]),
  ]
  // Few in all: one list of rows. Else each row is looked up, for a list of all that are complete would be as long as the sheet.
  const found = few
    ? isAmong(sql.join(places, sql` union all `))
    : sql<SqlBool>`(${sql.join(places.map(hasOne), sql` or `)})`
  return is === undefined ? sql`not ${found}` : found
}

type Places = RawBuilder<unknown>

function isAmong(places: Places): Condition {
  return sql`exists (${ofRow(places)})`
}

/** Looked up for each row, whatever PostgreSQL expects to find: as a join, planned before statistics exist, it never ends. */
function hasOne(places: Places): Condition {
  return sql`exists (${ofRow(places)} offset 0)`
}

const ofRow = (places: Places): Places => sql`select from (${places}) place
    where place.org_id = r.org_id and place.sheet_id = r.sheet_id and place.row_id = r.row_id`

function withResult(statuses: readonly string[], few: boolean, action: string | undefined): Places {
  const ofAction = action === undefined ? sql`` : sql` and c.action = ${action}`
  // Literals: the planner takes the index of failed cells only where it sees that nothing else is wanted.
  const among = few
    ? sql`c.status in (${sql.join(statuses.map((status) => sql.lit(status)))})`
    : sql`c.status = any(${statuses}::text[])`
  return sql`select c.org_id, c.sheet_id, c.row_id from cells c where ${among}${ofAction}`
}

function inFlight(statuses: readonly string[], action: string | undefined): Places {
  const ofAction = action === undefined ? sql`` : sql` and ${flightAction} = ${action}`
  return sql`select f.org_id, f.sheet_id, f.row_id
    from flights f join runs run on run.org_id = f.org_id and run.run_id = f.run_id
    where f.status = any(${statuses}::text[])${ofAction}`
}

const DAY = 86_400_000

/** The time of creation is the front of the row id, so this is a range of the primary key, with both ends. */
export function createdWithin({ operator, values }: CreatedAtFilter): Condition {
  const [first = '', second = first] = values
  const range = (from: number, to: number): Condition =>
    sql`r.row_id >= ${firstIdAt(from)}::uuid and r.row_id < ${firstIdAt(to)}::uuid`
  switch (operator) {
    case 'equals to':
    case 'is between':
      return range(startOf(first), endOf(second))
    case 'greater than':
      return range(startOf(first) + 1, LAST_MS)
    case 'greater than or equals to':
      return range(startOf(first), LAST_MS)
    case 'less than':
      return range(0, startOf(first))
    case 'less than or equals to':
      return range(0, endOf(first))
  }
}

const isDay = (moment: string): boolean => moment.length === 10

/** Times without an offset are UTC. A bare date is its midnight; as an inclusive upper end it is the whole day (D40). */
function startOf(moment: string): number {
  return Date.parse(isDay(moment) || /(Z|[+-]\d\d:?\d\d)$/i.test(moment) ? moment : `${moment}Z`)
}

function endOf(moment: string): number {
  return startOf(moment) + (isDay(moment) ? DAY : 1)
}

const LAST_MS = 0xffff_ffff_ffff

function firstIdAt(ms: number): string {
  const hex = Math.min(Math.max(0, ms), LAST_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
