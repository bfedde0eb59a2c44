import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { StatusFilter } from '#contract/rows.ts'
import { flightAction } from '../../runs/store/flights.ts'

// Results are cells; a flight is at the first action of its run without one. A row without either has no such cell. Those that failed
// have an index of their own, and those in the air are their table: they can be listed. All others are as many as the sheet has rows,
// and are looked up row by row. Which of the two is said here, by what keeps PostgreSQL from anything else: planned before there are
// statistics of a sheet, a join of its rows with such a list compares each with each.

type Condition = RawBuilder<SqlBool>
type Select = RawBuilder<unknown>
/** Of its organisation as the statement has it. */
export type SheetOfRows = { org_id: RawBuilder<unknown> | string; sheet_id: string }

const FAILED = ['failed', 'error', 'out_of_credits']
const IN_FLIGHT: ReadonlySet<string> = new Set(['queued', 'running'])
/** Listed rows that a statement holds in memory. */
const MAX_HELD = 100_000

/** Of the table `cells c`. Literals: the index of failed cells is taken only where it is seen that nothing else is wanted. */
export const isFailed: Condition = isOneOf(FAILED)

function isOneOf(statuses: readonly string[]): Condition {
  return sql`c.status in (${sql.join(statuses.map((status) => sql.lit(status)))})`
}

/** Of the table `rows r`. */
export function statusCondition(sheet: SheetOfRows, filter: StatusFilter): Condition {
  const list = listOf(sheet, filter)
  const found = list === undefined ? hasOne(filter) : isAmong(list, filter)
  return filter.is === undefined ? sql`not ${found}` : found
}

/**
 * The same as a join, which is the quickest for a list as long as the sheet. Only where loops are out of the question
 * (`enable_nestloop`).
 */
export function joinedStatus(list: Select, { is }: StatusFilter): Condition {
  const found = sql<SqlBool>`exists (select from (${list}) listed where listed.row_id = r.row_id)`
  return is === undefined ? sql`not ${found}` : found
}

/** Selects the ids of rows with one of the statuses, some perhaps more than once, where there is a way to list them. */
export function listOf({ org_id, sheet_id }: SheetOfRows, filter: StatusFilter): Select | undefined {
  const { results, flying } = partsOf(filter)
  if (results.some((status) => !FAILED.includes(status))) return undefined
  const lists = [
    ...(results.length === 0
      ? []
      : [
          sql`select c.row_id from cells c where c.org_id = ${org_id} and c.sheet_id = ${sheet_id}
            and ${isOneOf(results)}${ofAction(filter)}`,
        ]),
    ...(flying.length === 0
      ? []
      : [
          sql`select f.row_id from (select * from flights where org_id = ${org_id} and sheet_id = ${sheet_id} offset 0) f
            where ${isAt(flying, filter)}`,
        ]),
  ]
  return sql.join(lists, sql` union all `)
}

/** A list that has all of these rows and is quick to count: it is dear to tell at which action those in the air are. */
export function boundOf(sheet: SheetOfRows, filter: StatusFilter): Select | undefined {
  const isQuick = partsOf(filter).flying.length === 0
  return listOf(sheet, isQuick ? filter : { ...filter, action_instance_id: undefined })
}

/** In a list that is read once, while it is no longer than what may be held: no statistics are asked. */
function isAmong(list: Select, filter: StatusFilter): Condition {
  const some = sql`select row_id from (${list}) listed limit ${sql.lit(MAX_HELD + 1)}`
  return sql`(case when (select count(*) from (${some}) counted) <= ${sql.lit(MAX_HELD)}
    then r.row_id in (select unnest(array(${some}))) else ${hasOne(filter)} end)`
}

function hasOne(filter: StatusFilter): Condition {
  const { results, flying } = partsOf(filter)
  const places = [
    ...(results.length === 0
      ? []
      : [
          sql`exists (select from cells c where c.org_id = r.org_id and c.row_id = r.row_id
            and c.status = any(${results}::text[])${ofAction(filter)} offset 0)`,
        ]),
    ...(flying.length === 0
      ? []
      : [
          sql`exists (select from (select * from flights where org_id = r.org_id and row_id = r.row_id offset 0) f
            where ${isAt(flying, filter)} offset 0)`,
        ]),
  ]
  return sql`(${sql.join(places, sql` or `)})`
}

/** Of the flight `f`. */
function isAt(statuses: readonly string[], filter: StatusFilter): Condition {
  const isIn: Condition = sql`f.status = any(${statuses}::text[])`
  if (filter.action_instance_id === undefined) return isIn
  return sql`${isIn} and exists (
    select from (select actions from runs where org_id = f.org_id and run_id = f.run_id offset 0) run
    where ${flightAction} = ${filter.action_instance_id})`
}

function ofAction({ action_instance_id }: StatusFilter): RawBuilder<unknown> {
  return action_instance_id === undefined ? sql`` : sql` and c.action = ${action_instance_id}`
}

function partsOf({ is, is_not }: StatusFilter): { results: string[]; flying: string[] } {
  const statuses = [...new Set<string>(is ?? is_not ?? [])]
  return {
    results: statuses.filter((status) => !IN_FLIGHT.has(status)),
    flying: statuses.filter((status) => IN_FLIGHT.has(status)),
  }
}
