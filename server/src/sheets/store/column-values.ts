import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetColumn } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { flightAction } from '../../runs/store/flights.ts'
import { valueJson, valueText } from './row-columns.ts'

type Part = RawBuilder<unknown>

/** The SQL of columns over the rows `r` of a sheet: what to join, and what to read of each row. `textOf` makes texts of it. */
export type ColumnReads = { joins: Part; reads: Part[] }

/** Returns true if a row of the sheet is queued or running, so that the statuses of cells are also those of rows in flight. */
export async function hasFlights(db: Db, { org_id, sheet_id }: SheetKey): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from flights where org_id = ${org_id} and sheet_id = ${sheet_id}) as found`.execute(
    db,
  )
  return rows[0]?.found === true
}

/** The way in which columns are read. `flying`: rows of the sheet are in flight. `byKey`: each cell is looked up, instead of joining all cells. */
export type Reading = { flying: boolean; byKey: boolean }

/** Reads columns of rows: the cells of each action once. */
export function readColumns(
  sheet: SheetKey,
  columns: readonly SheetColumn[],
  { flying, byKey }: Reading,
): ColumnReads {
  const actions = [...new Set(columns.flatMap((column) => actionOf(column) ?? []))]
  const join = byKey ? lookUpCells : joinCells
  const joinsFlights = flying && columns.some((column) => 'statusOf' in column)
  const joins = [
    ...actions.map((action, n) => join(action, aliasOf(n))),
    ...(joinsFlights ? [joinFlights(sheet)] : []),
  ]
  return {
    joins: sql.join(joins, sql` `),
    reads: columns.map((column) => read(column, aliasOf(actions.indexOf(actionOf(column) ?? '')), flying)),
  }
}

/** Reads one column of some rows. `cell`: the cell of a column that an action has. */
export function lookUpColumn(sheet: SheetKey, column: SheetColumn, flying: boolean) {
  const { joins, reads } = readColumns(sheet, [column], { flying, byKey: true })
  return { joins, read: reads[0] ?? sql`null`, cell: aliasOf(0) }
}

const joinCells = (action: string, cell: Part): Part =>
  sql`left join cells ${cell} on ${cell}.org_id = r.org_id and ${cell}.row_id = r.row_id and ${cell}.action = ${action}`

const lookUpCells = (action: string, cell: Part): Part => sql`left join lateral (
    select * from cells c where c.org_id = r.org_id and c.row_id = r.row_id and c.action = ${action} offset 0
  ) ${cell} on true`

const aliasOf = (n: number): Part => sql.raw(`c${Math.max(0, n)}`)

function actionOf(column: SheetColumn): string | undefined {
  if ('statusOf' in column) return column.statusOf
  return 'action' in column ? column.action : undefined
}

const joinFlights = ({ org_id, sheet_id }: SheetKey): Part => sql`
  left join (
    select f.row_id as flown_row, f.status as flown_status, ${flightAction} as flown_action
    from (select * from flights where org_id = ${org_id} and sheet_id = ${sheet_id} offset 0) f,
    lateral (select actions from runs where org_id = f.org_id and run_id = f.run_id offset 0) run
  ) flown on flown.flown_row = r.row_id`

function read(column: SheetColumn, cell: Part, flying: boolean): Part {
  if ('field' in column) return ADDED_MS
  if ('statusOf' in column) {
    return flying
      ? sql`case when flown_action = ${column.statusOf} then flown_status else ${cell}.status end`
      : sql`${cell}.status`
  }
  if ('column' in column) return valueJson(column)
  return sql`case when ${cell}.status = 'complete' then ${valueJson(column, ({ output }) => sql`(${cell}.outputs -> ${output})`)} end`
}

/** The time at which a row was added, in milliseconds since 1970: its id begins with it. */
const ADDED_MS = sql`('x' || substr(r.row_id::text, 1, 8) || substr(r.row_id::text, 10, 4))::bit(48)::bigint`

/** Returns what was read of a column as text, null if it is empty. A time is in UTC, in ISO 8601. */
export function textOf(column: SheetColumn, value: Part): RawBuilder<string | null> {
  if ('field' in column)
    return sql`to_char(to_timestamp(${value} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return 'statusOf' in column ? sql`${value}` : valueText(value)
}
