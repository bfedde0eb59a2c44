import type { ColumnType } from './cells.ts'
import type { Place, Value } from './place.ts'

type Wanted = {
  query?: string | undefined
  table?: string | undefined
  key_column: string
  cursor_column?: string | undefined
}
type Binding = { type: 'TEXT'; value: string }
export type Statement = { statement: string; bindings: Record<string, Binding> }

/** Types whose values arrive as texts and must be cast back. */
const CAST = new Set(['DATE', 'TIME', 'TIMESTAMP_NTZ', 'TIMESTAMP_LTZ', 'TIMESTAMP_TZ', 'BOOLEAN'])
const NUMBERS = new Set(['FIXED', 'NUMBER', 'REAL', 'FLOAT', 'DECFLOAT'])

/**
 * Prints the statement for the rows after a position, in the order of cursor and key. Names were checked before; values
 * are bound.
 */
export function printPage(wanted: Wanted, { from, isNull, after }: Place, limit: number): Statement {
  const { query, table = '', key_column, cursor_column } = wanted
  const bindings: Statement['bindings'] = {}
  const bind = ({ text, type }: Value) => {
    bindings[String(Object.keys(bindings).length + 1)] = { type: 'TEXT', value: text }
    const name = type.toUpperCase()
    if (NUMBERS.has(name)) return name === 'REAL' || name === 'FLOAT' ? '?::FLOAT' : '?::NUMBER(38, 9)'
    return CAST.has(name) ? `?::${name}` : '?'
  }
  const key = `q.${key_column}`
  const cursor = cursor_column === undefined ? null : `q.${cursor_column}`
  const where = [`${key} is not null`]
  if (cursor === null || isNull) {
    if (cursor !== null) where.push(`${cursor} is null`)
    if (after !== null) where.push(`${key} > ${bind(after.key)}`)
  } else {
    where.push(`${cursor} is not null`)
    if (after !== null && after.cursor !== null) {
      const { cursor: last, key: lastKey } = after
      where.push(`(${cursor} > ${bind(last)} or (${cursor} = ${bind(last)} and ${key} > ${bind(lastKey)}))`)
    } else if (from !== null) {
      // A transaction that was open when the last pull ended commits later with an earlier time.
      const start = from.type.toUpperCase().startsWith('TIMESTAMP')
        ? `dateadd('minute', -5, ${bind(from)})`
        : bind(from)
      where.push(`${cursor} >= ${start}`)
    }
  }
  const order = cursor === null || isNull ? key : `${cursor}, ${key}`
  const rows = query === undefined ? table : `(${query}\n)`
  return {
    statement: `select q.* from ${rows} q where ${where.join(' and ')} order by ${order} limit ${limit}`,
    bindings,
  }
}

/** Returns the index of a column. Snowflake reads unquoted names in upper case. */
export function findColumn(columns: readonly ColumnType[], name: string): number {
  const wanted = name.startsWith('"') ? name.slice(1, -1) : name.toUpperCase()
  return columns.findIndex((column) => column.name === wanted)
}
