import { type RawBuilder, sql } from 'kysely'
import { CELL_STATUSES } from '#contract/rows.ts'
import type { SheetColumn, SortKey, ValueSource } from '../../database/tables/selection.ts'
import { flightAction } from '../../runs/store/flights.ts'
import { asInstant, asNumber, valueJson, valueText } from './row-columns.ts'

type Part = RawBuilder<unknown>

/** The characters of a text that are compared. */
const MAX_COMPARED = sql.lit(1000)

/**
 * Selects the numbers of rows in the order of the keys, from `rows` (`from` and `where` of the rows `r`). Values are sorted by kind: each
 * kind by one expression, for which PostgreSQL has shortened keys. That takes a third of the time of one sort by all kinds.
 */
export function sortedRows(rows: Part, keys: readonly SortKey[]): Part {
  const [first, ...others] = keys
  if (first === undefined) return sql`select r.seq ${rows} order by r.seq`
  const keyed = selectKeys(rows, keys)
  const rest = sql.join([...others.flatMap((key, n) => orderOf(key, n + 1)), sql`seq`])
  const direction = directionOf(first)
  if (!isValue(first.column))
    return sql`with keyed as materialized (${keyed}) select seq from keyed order by k0 ${direction} nulls last, ${rest}`
  const number = sql`(select seq from keyed where n0 is not null order by n0 ${direction}, ${rest})`
  const date = sql`(select seq from keyed where d0 is not null order by d0 ${direction}, ${rest})`
  const text = sql`(select seq from keyed where t0 is not null order by t0 collate loam_text ${direction}, ${rest})`
  const empty = sql`(select seq from keyed where n0 is null and d0 is null and t0 is null order by ${rest})`
  const kinds = first.direction === 'asc' ? [number, date, text, empty] : [text, date, number, empty]
  return sql`with keyed as materialized (${keyed}) select seq from (${sql.join(kinds, sql` union all `)}) kinds`
}

const directionOf = ({ direction }: SortKey): Part => (direction === 'asc' ? sql`asc` : sql`desc`)

const isValue = (column: SheetColumn): column is ValueSource => 'column' in column || 'output' in column

/** Lists the expressions by which a further key orders rows. */
function orderOf(key: SortKey, n: number): Part[] {
  const direction = sql`${directionOf(key)} nulls last`
  const names = (letter: string) => sql.ref(`${letter}${n}`)
  if (!isValue(key.column)) return [sql`${names('k')} ${direction}`]
  const [number, date, text] = [names('n'), names('d'), names('t')]
  return [
    sql`case when ${number} is not null then 0 when ${date} is not null then 1 when ${text} is not null then 2 end ${direction}`,
    sql`${number} ${direction}`,
    sql`${date} ${direction}`,
    sql`${text} collate loam_text ${direction}`,
  ]
}

/**
 * Selects the keys of each row: of a value its number (n), date (d) or text (t), of which at most one is set, and of other
 * columns one number (k). Each level is computed once (`offset 0`).
 */
function selectKeys(rows: Part, keys: readonly SortKey[]): Part {
  const each = (select: (column: SheetColumn, n: number) => Part[]) =>
    sql.join([sql`seq`, ...keys.flatMap(({ column }, n) => select(column, n))])
  const keep = (letter: string, n: number) => sql.ref(`${letter}${n}`)
  const values = each((column, n) => {
    if (!isValue(column)) return [sql`${numberOf(column)} as ${keep('k', n)}`]
    const plain = plainText(column)
    return [
      plain === undefined ? sql`${valueJson(column)} as ${keep('j', n)}` : sql`${plain} as ${keep('t', n)}`,
    ]
  })
  const texts = each((column, n) => {
    if (!isValue(column)) return [keep('k', n)]
    return [
      plainText(column) === undefined ? sql`${valueText(keep('j', n))} as ${keep('t', n)}` : keep('t', n),
    ]
  })
  const kinds = each((column, n) => {
    if (!isValue(column)) return [keep('k', n)]
    const text = sql<string | null>`${keep('t', n)}`
    return [
      text,
      sql`${asNumber(text)} as ${sql.ref(`n${n}`)}`,
      sql`${asInstant(text)} as ${sql.ref(`d${n}`)}`,
    ]
  })
  const single = each((column, n) => {
    if (!isValue(column)) return [keep('k', n)]
    const [text, number, date] = [keep('t', n), keep('n', n), keep('d', n)]
    return [
      number,
      date,
      sql`case when ${number} is null and ${date} is null then left(${text}, ${MAX_COMPARED}) end as ${text}`,
    ]
  })
  const isRead = keys.some(({ column }) => isValue(column) && plainText(column) === undefined)
  const read = sql`(select ${values} ${rows} offset 0) read`
  const prepared = isRead ? sql`(select ${texts} from ${read} offset 0) texts` : read
  return sql`select ${single} from (select ${kinds} from ${prepared} offset 0) kinds`
}

/** Selects an input without a path as text, in one step. A list or an object without content is empty, as its text is. */
function plainText(column: SheetColumn): Part | undefined {
  if (!('column' in column) || column.steps !== undefined) return undefined
  return sql`nullif(nullif(nullif(r.data ->> ${String(column.column)}, ''), '[]'), '{}')`
}

/** Selects the number by which the status of a cell or the time of creation is ordered. */
function numberOf(column: SheetColumn): Part {
  if ('field' in column)
    return sql`('x' || substr(r.row_id::text, 1, 8) || substr(r.row_id::text, 10, 4))::bit(48)::bigint`
  if (!('statusOf' in column)) throw new Error('a value has keys of its own')
  const action = column.statusOf
  return sql`array_position(${[...CELL_STATUSES]}::text[], coalesce(
    (select f.status from (select * from flights where org_id = r.org_id and row_id = r.row_id offset 0) f,
      lateral (select actions from runs where org_id = f.org_id and run_id = f.run_id offset 0) run where ${flightAction} = ${action}),
    (select c.status from cells c where c.org_id = r.org_id and c.row_id = r.row_id and c.action = ${action} offset 0)))`
}
