import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { StatusFilter } from '#contract/rows.ts'
import { FAILED, isOneOf } from '../../runs/store/failed-cells.ts'
import { flightAction } from '../../runs/store/flights.ts'

// Results are cells; a flight is at the first action of its run without one. A row without either has no such cell. Failed
// cells have an index of their own and flights have their own table, so both can be listed. Other statuses are as frequent as
// the rows of the sheet and are checked row by row. The statements here force one of the two ways: planned before statistics
// of a sheet exist, a join of its rows with such a list would compare each with each.

type Condition = RawBuilder<SqlBool>
type Select = RawBuilder<unknown>
/** The key of a sheet. `org_id` may be an expression of the statement. */
export type SheetOfRows = { org_id: RawBuilder<unknown> | string; sheet_id: string }

const IN_FLIGHT: ReadonlySet<string> = new Set(['queued', 'running'])
/** The number of listed rows that a statement holds in memory. */
const MAX_HELD = 100_000

/** Returns the condition of a filter by status on the row `r`. */
export function statusCondition(sheet: SheetOfRows, filter: StatusFilter): Condition {
  const list = selectStatusList(sheet, filter)
  const found = list === undefined ? hasAnyStatus(filter) : isAmong(list, filter)
  return filter.is === undefined ? sql`not ${found}` : found
}

/**
 * Returns the condition as a join, which is the fastest way for a list as long as the sheet. Use it only where nested loops
 * are disabled (`enable_nestloop`).
 */
export function joinedStatus(list: Select, isIncluded: boolean): Condition {
  const found = sql<SqlBool>`exists (select from (${list}) listed where listed.row_id = r.row_id)`
  return isIncluded ? found : sql`not ${found}`
}

/**
 * Selects the ids of rows with one of the statuses, some perhaps more than once. Returns undefined if they cannot be listed.
 */
export function selectStatusList(
  { org_id, sheet_id }: SheetOfRows,
  filter: StatusFilter,
): Select | undefined {
  const { results, flying } = splitStatuses(filter)
  if (results.some((status) => !FAILED.includes(status))) return undefined
  const lists = [
    ...(results.length === 0
      ? []
      : [
          sql`select c.row_id from cells c where c.org_id = ${org_id} and c.sheet_id = ${sheet_id}
            and ${isOneOf(results)}${andAction(filter)}`,
        ]),
    ...(flying.length === 0
      ? []
      : [
          sql`select f.row_id from (select * from flights where org_id = ${org_id} and sheet_id = ${sheet_id} offset 0) f
            where ${isAtStatus(flying, filter)}`,
        ]),
  ]
  return sql.join(lists, sql` union all `)
}

/** Returns the condition that a cell of the row `r` failed for the cause. */
export const failedFor = (cause: string): Condition =>
  sql`exists (select from cells c where c.org_id = r.org_id and c.row_id = r.row_id and c.cause = ${cause} offset 0)`

/** Selects the ids of the rows with a cell that failed for the cause. */
export const selectCauseList = ({ org_id, sheet_id }: SheetOfRows, cause: string): Select =>
  sql`select c.row_id from cells c where c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.cause = ${cause}`

/** Selects a list that includes all of these rows and is quick to count: finding the action of each flight is expensive. */
export function selectBound(sheet: SheetOfRows, filter: StatusFilter): Select | undefined {
  const isQuick = splitStatuses(filter).flying.length === 0
  return selectStatusList(sheet, isQuick ? filter : { ...filter, action_instance_id: undefined })
}

/**
 * Returns the condition that the row is in a list that is read once, as long as the list fits into memory. This needs no
 * statistics.
 */
function isAmong(list: Select, filter: StatusFilter): Condition {
  const some = sql`select row_id from (${list}) listed limit ${sql.lit(MAX_HELD + 1)}`
  return sql`(case when (select count(*) from (${some}) counted) <= ${sql.lit(MAX_HELD)}
    then r.row_id in (select unnest(array(${some}))) else ${hasAnyStatus(filter)} end)`
}

function hasAnyStatus(filter: StatusFilter): Condition {
  const { results, flying } = splitStatuses(filter)
  const places = [
    ...(results.length === 0
      ? []
      : [
          sql`exists (select from cells c where c.org_id = r.org_id and c.row_id = r.row_id
            and c.status = any(${results}::text[])${andAction(filter)} offset 0)`,
        ]),
    ...(flying.length === 0
      ? []
      : [
          sql`exists (select from (select * from flights where org_id = r.org_id and row_id = r.row_id offset 0) f
            where ${isAtStatus(flying, filter)} offset 0)`,
        ]),
  ]
  return sql`(${sql.join(places, sql` or `)})`
}

/** Returns the condition that the flight `f` has one of the statuses at the action of the filter. */
function isAtStatus(statuses: readonly string[], filter: StatusFilter): Condition {
  const isIn: Condition = sql`f.status = any(${statuses}::text[])`
  if (filter.action_instance_id === undefined) return isIn
  return sql`${isIn} and exists (
    select from (select actions from runs where org_id = f.org_id and run_id = f.run_id offset 0) run
    where ${flightAction} = ${filter.action_instance_id})`
}

function andAction({ action_instance_id }: StatusFilter): RawBuilder<unknown> {
  return action_instance_id === undefined ? sql`` : sql` and c.action = ${action_instance_id}`
}

function splitStatuses({ is, is_not }: StatusFilter): { results: string[]; flying: string[] } {
  const statuses = [...new Set<string>(is ?? is_not ?? [])]
  return {
    results: statuses.filter((status) => !IN_FLIGHT.has(status)),
    flying: statuses.filter((status) => IN_FLIGHT.has(status)),
  }
}
