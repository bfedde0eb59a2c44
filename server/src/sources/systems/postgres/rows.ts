import { z } from 'zod'
import { postgres } from '../../../catalog/providers/postgres/provider.ts'
import { parseExact } from '../../../lib/json/lossless-json.ts'
import { isObject } from '../../../lib/json/object.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { printPage, State } from './page-query.ts'

const Name = z
  .string()
  .trim()
  .min(1)
  .max(63)
  .regex(/^[^\0"]+$/, 'must be the name of a column')

export const tableRows = defineShape({
  body: {
    query: z
      .string()
      .trim()
      .max(20_000)
      .regex(/^(select|with|table|values)\b/i, 'must be one read-only statement: select ... or with ...')
      .transform((text) => text.replace(/;\s*$/, ''))
      .describe('One read-only statement without order by; or set table')
      .optional(),
    table: z
      .string()
      .trim()
      .max(127)
      .regex(/^[^\0".]+(\.[^\0".]+)?$/, 'must be the name of a table, such as leads or sales.leads')
      .describe('The table or view, such as leads or sales.leads; or set query')
      .optional(),
    schema: Name.describe('The schema of the table, if its name has none').optional(),
    key_column: Name.describe('The column that identifies a row permanently, such as its primary key'),
    cursor_column: Name.describe(
      'A column that increases with every change, such as updated_at: scheduled pulls only read rows from its last value on',
    ).optional(),
  },
  row: z.record(z.string(), z.unknown()),
})

const Reply = z.object({
  rows: z.array(
    z.object({ row: z.string(), key: z.string(), cursor: z.string().nullish(), type: z.string().nullish() }),
  ),
  isCut: z.boolean(),
})

const START: State = { from: null, last: null, isNull: false, after: null }
const MAX_PAGE = 1000

export const importedRows = definePull(tableRows, postgres, {
  price: 0,
  state: State,
  pull({ body, state, limit, ask }) {
    const here = state ?? START
    const size = Math.min(MAX_PAGE, limit)
    const { text, values } = printPage(body, here, size)
    return ask({ path: '/', json: { text, values, limit: size } }, Reply, ({ rows, isCut }) => {
      const final = rows.at(-1)
      const cursor = final?.cursor ?? null
      const last =
        cursor === null ? here.last : { cursor, isTime: final?.type?.startsWith('timestamp') === true }
      const isDone = rows.length < size && !isCut
      const onward = { ...here, last, after: final === undefined ? here.after : { cursor, key: final.key } }
      const nulls = { ...here, last, isNull: true, after: null }
      const hasNulls = body.cursor_column !== undefined && !here.isNull
      return {
        records: rows.map(({ row, key }) => ({ key, row: readRow(row) })),
        next: isDone ? (hasNulls ? nulls : null) : onward,
        ...(body.cursor_column === undefined ? {} : { resume: { ...START, from: last ?? here.from } }),
      }
    })
  },
})

/** Parses a row. The server prints it as JSON; numbers beyond the range of doubles keep their digits. */
function readRow(text: string): Record<string, unknown> {
  const row = parseExact(text)
  return isObject(row) ? row : { value: row }
}
