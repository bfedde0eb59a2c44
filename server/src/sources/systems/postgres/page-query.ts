import pg from 'pg'
import { z } from 'zod'

const Place = z.object({ cursor: z.string().nullable(), key: z.string() })
/**
 * The position. Rows are read by cursor and key, then those with a null cursor. `from` is where an earlier pull ended,
 * `last` where this one has arrived.
 */
export const State = z.object({
  from: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  last: z.object({ cursor: z.string(), isTime: z.boolean() }).nullable(),
  isNull: z.boolean(),
  after: Place.nullable(),
})
export type State = z.infer<typeof State>

type Wanted = {
  query?: string | undefined
  table?: string | undefined
  schema?: string | undefined
  key_column: string
  cursor_column?: string | undefined
}

const quote = (name: string) => pg.escapeIdentifier(name)

/**
 * The overlap between pulls. A transaction that was open when the last pull ended commits later with an earlier time.
 */
const LATE = "interval '5 minutes'"

/**
 * Prints the query for the rows after a position, in the order of cursor and key. Values get the types of the columns
 * that they are compared with.
 */
export function printPage(
  { query, table = '', schema, key_column, cursor_column }: Wanted,
  { from, isNull, after }: State,
  limit: number,
): { text: string; values: string[] } {
  const parts = schema === undefined ? table.split('.') : [schema, table]
  // A comment at the end of the query must not swallow the text after it.
  const rows = query === undefined ? parts.map(quote).join('.') : `(${query}\n)`
  const key = `q.${quote(key_column)}`
  const cursor = cursor_column === undefined ? null : `q.${quote(cursor_column)}`
  const values: string[] = []
  const bind = (value: string) => `$${values.push(value)}`
  const where = [`${key} is not null`]
  if (cursor === null || isNull) {
    if (cursor !== null) where.push(`${cursor} is null`)
    if (after !== null) where.push(`${key} > ${bind(after.key)}`)
  } else {
    where.push(`${cursor} is not null`)
    if (after !== null && after.cursor !== null) {
      where.push(`(${cursor}, ${key}) > (${bind(after.cursor)}, ${bind(after.key)})`)
    } else if (from !== null) {
      where.push(
        `${cursor} >= ${from.isTime ? `${bind(from.cursor)}::timestamptz - ${LATE}` : bind(from.cursor)}`,
      )
    }
  }
  const order = cursor === null || isNull ? key : `${cursor}, ${key}`
  const selected = [
    'row_to_json(q)::text as row',
    `${key}::text as key`,
    ...(cursor === null ? [] : [`${cursor}::text as cursor`, `pg_typeof(${cursor})::text as type`]),
  ]
  return {
    text: `select ${selected.join(', ')} from ${rows} q where ${where.join(' and ')} order by ${order} limit ${limit}`,
    values,
  }
}
