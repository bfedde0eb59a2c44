import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ignoreEmptyValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, unrunnable, wait } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { snowflake } from '../providers/snowflake/provider.ts'
import { isSnowflakeName, isSnowflakeTable, printInsert } from '../push/snowflake.ts'
import { NOTHING_TO_WRITE, readWireValues } from '../push/values.ts'

// docs.snowflake.com/en/developer-guide/sql-api/reference (2026-11): the status is 202 while the statement runs; a
// repeated requestId with retry=true is not executed again.
const Reply = z.object({
  statementHandle: z.string().min(1),
  resultSetMetaData: z.unknown().optional(),
  data: z.array(z.array(z.string().nullable())).optional(),
})
const Submitted = z.object({ handle: z.string().min(1), polls: z.number() })
const SETTINGS = ['warehouse', 'role', 'database', 'schema'] as const
const POLL_MS = 2000
const MAX_POLLS = 150

export default defineAction({
  id: 'snowflake_insert_row',
  name: 'Insert Snowflake row',
  description: 'Adds a row to a Snowflake table.',
  category: 'data',
  synonyms: ['warehouse', 'database', 'sql', 'export', 'save'],
  credits: 0,
  cached: false,
  timeoutSeconds: 90,
  inputs: {
    database: field.dropdown({
      from: 'Snowflake databases',
      label: 'Database',
      help: 'Leave empty for the database of the connection.',
    }),
    schema: field.dropdown({
      from: 'Snowflake schemas',
      needs: ['database'],
      label: 'Schema',
      help: 'Leave empty for the schema of the connection.',
    }),
    table: field.dropdown({
      required: true,
      from: 'Snowflake tables',
      needs: ['database', 'schema'],
      label: 'Table',
      help: 'The table to write to.',
      placeholder: 'LEADS',
      details: 'LEADS or SALES.PUBLIC.LEADS.',
    }),
    values: field.pairs({
      required: true,
      label: 'Columns',
      help: 'The columns to write and their values.',
      details: '{name, value} with the name of a column.',
    }),
    warehouse: field.dropdown({
      from: 'Snowflake warehouses',
      label: 'Warehouse',
      help: 'Runs the statement. Leave empty for the warehouse of the connection.',
      advanced: true,
    }),
    role: field.text({ label: 'Role', help: 'Leave empty for the role of the connection.', advanced: true }),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: snowflake }),
  },
  outputs: {
    id: output.text('The id of the statement in Snowflake.'),
    rows: output.number('The number of inserted rows.'),
  },
  async run({ inputs, context }) {
    const { connection } = inputs
    const table = inputs.table.trim()
    if (!isSnowflakeTable(table)) return unrunnable('table must be a name, as LEADS or SALES.PUBLIC.LEADS')
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    if (values.size === 0) return unrunnable(NOTHING_TO_WRITE)
    const wrong = [...values.keys()].find((name) => !isSnowflakeName(name))
    if (wrong !== undefined) return unrunnable(`values: "${wrong.slice(0, 100)}" is not the name of a column`)
    const kept = Submitted.safeParse(context.state)
    const submitted = kept.success ? kept.data : null
    const fields = (await context.keys.own(snowflake.id, connection))?.fields ?? {}
    const settings = SETTINGS.flatMap((name): [string, string][] => {
      const value = inputs[name]?.trim() ?? fields[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    })
    const request =
      submitted === null
        ? ({
            method: 'POST',
            path: '/api/v2/statements',
            query: { requestId: toUuid(context.cellRun), retry: true },
            json: { ...printInsert(table, values), ...Object.fromEntries(settings), timeout: 60 },
          } as const)
        : { path: `/api/v2/statements/${encodeURIComponent(submitted.handle)}` }
    const answer = await askProvider({ provider: snowflake, connection, request, schema: Reply }, context)
    if (!answer.ok) {
      // A wait for the gate must keep the handle of the statement.
      const { outcome } = answer
      return submitted !== null && outcome.kind === 'wait'
        ? wait(outcome.ms, { ...submitted, ...(outcome.state as object) })
        : outcome
    }
    const { statementHandle: handle, resultSetMetaData, data } = answer.body
    if (resultSetMetaData === undefined && data === undefined) {
      const polls = (submitted?.polls ?? 0) + 1
      return polls > MAX_POLLS
        ? failed(`Snowflake: the statement ${handle} did not end`)
        : wait(POLL_MS, { handle, polls })
    }
    return done({ id: handle, rows: Number(data?.[0]?.[0] ?? 1) }, answer.provenance)
  },
})

/**
 * Returns a UUID made from a text. It is the same in every try of a cell, so that Snowflake runs the statement once.
 */
function toUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return [...parts, hex.slice(20, 32)].join('-')
}
