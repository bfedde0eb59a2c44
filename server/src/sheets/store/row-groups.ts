import { type RawBuilder, sql } from 'kysely'
import { type AGGREGATES, MAX_GROUP_BYTES, MAX_GROUPS } from '#contract/row-groups.ts'
import type { Db } from '../../database/connection/db.ts'
import type { Selection, SheetColumn } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { hasFlights, readColumns, textOf } from './column-values.ts'
import { matchingRows, readMatching } from './matching-rows.ts'
import { asNumber } from './row-columns.ts'
import { readByIndex } from './sheet-share.ts'

export type Aggregate = { column: SheetColumn; function: (typeof AGGREGATES)[number] }
export type Grouping = { by: readonly SheetColumn[]; aggregates: readonly Aggregate[] }

/** A group: its values in the order of the columns, and the aggregates as texts of numbers. */
export type Group = { keys: (string | null)[]; count: number; aggregates: (string | null)[] }
export type Groups = { groups: Group[]; group_count: number; total_count: number }

type Part = RawBuilder<unknown>
type Text = RawBuilder<string | null>

const MS_OF_DAY = sql.lit(86_400_000)

/** Groups the rows of a selection by the values of columns. Lists the largest groups, and those of a size by their values. */
export async function groupRows(
  trx: Db,
  sheet: SheetKey,
  selection: Selection,
  { by, aggregates }: Grouping,
): Promise<Groups> {
  const byKey = await readByIndex(trx, sheet)
  const flying = await hasFlights(trx, sheet)
  const matching = await matchingRows(trx, sheet, selection)
  const columns = [...by, ...aggregates.map(({ column }) => column)]
  const { joins, reads } = readColumns(sheet, columns, { flying, byKey })
  const texts = columns.map((column, n) => textFor(column, name('j', n)))
  const keys = by.map((column, n) => keyOf(column, name('t', n)))
  const results = aggregates.map(
    ({ function: fn }, n) => sql`${FUNCTIONS[fn]}(${asNumber(name('t', by.length + n))})`,
  )
  const names = by.map((_, n) => name('k', n))
  const largestFirst = sql`order by count desc, ${sql.join(names.map(inOrder))}`
  const bytes = names.map((key) => sql`coalesce(octet_length(${key}), 0)`)
  const statement = sql<GroupRow>`
    with grouped as materialized (
      select ${sql.join([...nameAll('k', keys.map(byCodePoint)), ...nameAll('a', results)])}, count(*) as count
      from (
        select ${sql.join(nameAll('t', texts))} from (
          select ${sql.join(nameAll('j', reads))} from (select r.* ${matching.rows}) r ${joins} offset 0
        ) read offset 0
      ) texts
      group by ${sql.join(by.map((_, n) => sql.lit(n + 1)))}
    ), largest as (
      select *, row_number() over first_ones as place, sum(${sql.join(bytes, sql` + `)}) over first_ones as bytes
      from (select * from grouped ${largestFirst} limit ${sql.lit(MAX_GROUPS)}) listed
      window first_ones as (${largestFirst})
    )
    select l.count, array[${sql.join(names)}]::text[] as keys, ${listTexts(results.map((_, n) => name('a', n)))} as aggregates,
      t.group_count, t.total_count
    from (select count(*) as group_count, coalesce(sum(count), 0)::bigint as total_count from grouped) t
    left join largest l on l.bytes <= ${sql.lit(MAX_GROUP_BYTES)}
    order by l.place`
  const rows = await readMatching(trx, matching, statement)
  const { group_count = 0, total_count = 0 } = rows[0] ?? {}
  const groups = rows.flatMap(({ keys, count, aggregates }) =>
    count === null ? [] : [{ keys, count, aggregates }],
  )
  return { groups, group_count, total_count }
}

type GroupRow = Omit<Group, 'count'> & { count: number | null; group_count: number; total_count: number }

const name = (letter: string, n: number): Text => sql.raw(`${letter}${n}`)

const nameAll = (letter: string, parts: readonly Part[]) =>
  parts.map((part, n) => sql`${part} as ${name(letter, n)}`)

const listTexts = (parts: readonly Part[]): Part =>
  parts.length === 0 ? sql`'{}'::text[]` : sql`array[${sql.join(parts.map((part) => sql`${part}::text`))}]`

/** Returns the text by which rows are grouped: of the time of creation, the day in UTC. */
function textFor(column: SheetColumn, value: Part): Text {
  if ('field' in column) return sql`(date '1970-01-01' + (${value} / ${MS_OF_DAY})::integer)::text`
  return textOf(column, value)
}

/** Selects the value of a group. All but whole inputs are compared as numbers where they are numbers, as `is` does (D34). */
function keyOf(column: SheetColumn, text: Text): Text {
  const isCompared = 'output' in column || ('column' in column && column.steps !== undefined)
  return isCompared ? sql`coalesce(trim_scale(${asNumber(text)})::text, ${text})` : text
}

const FUNCTIONS = { sum: sql`sum`, average: sql`avg`, min: sql`min`, max: sql`max` }

/** Compares texts by code points: the order is the same in each installation, and found much faster than that of a language. */
const byCodePoint = (key: Part): Part => sql`(${key}) collate "C"`
const inOrder = (key: Part): Part => sql`${key} nulls last`
