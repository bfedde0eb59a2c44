import { z } from 'zod'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { textOf } from '../chain/references.ts'
import { defineAction } from '../define.ts'
import { type Field, hasToken, refuse } from '../fields/field.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { postgres } from '../providers/postgres/provider.ts'

const Reply = z.object({ rows: z.array(z.object({ row: z.string() })), isCut: z.boolean() })
const MAX_ROWS = 1000
const MAX_BYTES = 1_000_000
const READS = /^(select|with|table|values)\b/i

const text = field.text({
  required: true,
  type: 'promptField',
  label: 'SQL query',
  help: 'One statement that reads. Values of the row are $1, $2 and so on.',
  placeholder: 'select name, plan from customers where domain = $1',
  details: 'select ... or with ... The values are set in `params`.',
})
/** The statement. It accepts no references, so that values of a row never become part of it. */
const sql: Field<string> = {
  ...text,
  check(raw, path) {
    if (typeof raw === 'string' && hasToken(raw)) {
      return refuse(path, 'takes no references: write $1, $2 in their place and list them in params')
    }
    return text.check(raw, path)
  },
  resolve: (configured) => configured,
}

export default defineAction({
  id: 'postgres_query',
  name: 'Query PostgreSQL',
  description: 'Reads rows of your PostgreSQL database. It never writes.',
  category: 'data',
  synonyms: ['sql', 'database', 'select', 'warehouse'],
  credits: 0,
  cached: false,
  timeoutSeconds: 90,
  inputs: {
    sql,
    params: field.values({
      label: 'Parameters',
      help: 'The values of $1, $2 and so on, in this order.',
      details: 'Lists and objects are sent as JSON, empty values as null.',
    }),
    limit: field.number({
      whole: true,
      min: 1,
      max: MAX_ROWS,
      default: 100,
      label: 'Most rows',
      help: `Reads up to ${MAX_ROWS} rows.`,
      placeholder: '100',
      details: 'Default 100.',
      advanced: true,
    }),
    connection: field.connection({ provider: postgres }),
  },
  outputs: {
    rows: output.table('The rows found; empty when there are none.'),
    count: output.number('The number of returned rows.'),
    more: output.boolean('True if there are more rows.'),
  },
  async run({ inputs, context }) {
    const statement = inputs.sql.trim().replace(/;\s*$/, '')
    if (!READS.test(statement))
      return unrunnable('sql must be one statement that reads: select ... or with ...')
    const limit = inputs.limit ?? 100
    const json = {
      // The line break ends a comment at the end of the statement.
      text: `select row_to_json(q)::text as row from (${statement}\n) q`,
      values: inputs.params.map(toParameter),
      limit: limit + 1,
      maxBytes: MAX_BYTES,
    }
    const { connection } = inputs
    const request = { path: '/', json }
    const answer = await askProvider({ provider: postgres, connection, request, schema: Reply }, context)
    if (!answer.ok) return answer.outcome
    const { rows, isCut } = answer.body
    const given = rows.slice(0, limit).map(({ row }) => {
      const value = parseLossless(row)
      return isObject(value) ? value : { value }
    })
    return done({ rows: given, count: given.length, more: isCut || rows.length > limit }, answer.provenance)
  },
})

function toParameter(value: unknown): string | null {
  const text = textOf(value)
  return text === '' ? null : text
}
