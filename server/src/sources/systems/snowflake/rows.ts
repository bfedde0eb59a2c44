import { z } from 'zod'
import { textOf } from '../../../catalog/chain/references.ts'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { refusal } from '../../../catalog/provider/reply.ts'
import { snowflake } from '../../../catalog/providers/snowflake/provider.ts'
import { definePull, type Page } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { readCell } from './cells.ts'
import { findColumn, printPage } from './page-query.ts'
import { type Place, START, State, type Submitted, type Value } from './place.ts'

const NAME = String.raw`([A-Za-z_][\w$]*|"[^"\0]+")`
const Name = z
  .string()
  .trim()
  .max(255)
  .regex(new RegExp(`^${NAME}$`), 'must be a name, such as ID or "Id"')

export const tableRows = defineShape({
  body: {
    query: z
      .string()
      .trim()
      .max(20_000)
      .regex(/^(select|with)\b/i, 'must be one read-only statement: select ... or with ...')
      .transform((text) => text.replace(/;\s*$/, ''))
      .describe('One read-only statement without order by; or set table')
      .optional(),
    table: z
      .string()
      .trim()
      .max(800)
      .regex(
        new RegExp(`^${NAME}(\\.${NAME}){0,2}$`),
        'must be the name of a table, such as LEADS or SALES.PUBLIC.LEADS',
      )
      .describe('The table or view, such as LEADS or SALES.PUBLIC.LEADS; or set query')
      .optional(),
    key_column: Name.describe('The column that identifies a row permanently'),
    cursor_column: Name.describe(
      'A column that increases with every change, such as UPDATED_AT: scheduled pulls only read rows from its last value on',
    ).optional(),
    warehouse: Name.describe(
      'The warehouse that runs the statement; default: that of the connection',
    ).optional(),
    role: Name.describe('The role that runs the statement; default: that of the connection').optional(),
    database: Name.describe('The database; default: that of the connection').optional(),
    schema: Name.describe('The schema; default: that of the connection').optional(),
  },
  row: z.record(z.string(), z.unknown()),
})
type Body = z.output<z.ZodObject<typeof tableRows.body>>

/** A result, a part of one, or only the handle of a statement that is still running (202). */
export const Reply = z.object({
  statementHandle: z.string().optional(),
  resultSetMetaData: z
    .object({
      rowType: z.array(z.object({ name: z.string(), type: z.string() })),
      partitionInfo: z.array(z.unknown()).default([]),
    })
    .optional(),
  data: z.array(z.array(z.string().nullable())).optional(),
})
type Reply = z.infer<typeof Reply>

const MAX_PAGE = 1000
const FIRST_POLL_MS = 2000
const MAX_POLL_MS = 30_000
const SETTINGS = ['warehouse', 'role', 'database', 'schema'] as const

export const importedRows = definePull(tableRows, snowflake, {
  price: 0,
  state: State,
  async pull({ body, state, limit, key, ask }) {
    const place = state?.place ?? START
    const size = Math.min(MAX_PAGE, limit)
    const kept = state?.submitted ?? null
    const known = kept === null ? null : await readOn(ask, kept)
    // Snowflake keeps results for a day. After that the statement is run again from the last row on.
    const isGone = known !== null && 'kind' in known && known.kind === 'ineligible'
    const submitted = isGone ? null : kept
    const reply =
      known === null || isGone ? await submit(ask, body, place, { size, fields: key.fields }) : known
    return 'kind' in reply ? reply : toPage(body, place, { before: submitted, wanted: size }, reply)
  },
})

function readOn(ask: Ask, { handle, partition }: Submitted) {
  const query = { partition: partition === 0 ? undefined : partition }
  return ask({ path: `/api/v2/statements/${encodeURIComponent(handle)}`, query }, Reply, (reply) => reply)
}

function submit(
  ask: Ask,
  body: Body,
  place: Place,
  { size, fields }: { size: number; fields: Readonly<Record<string, string>> },
) {
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, body[name] ?? fields[name]]))
  const json = { ...printPage(body, place, size), ...settings, timeout: 600 }
  return ask({ method: 'POST', path: '/api/v2/statements', json }, Reply, (reply) => reply)
}

function toPage(
  body: Body,
  place: Place,
  { before, wanted }: { before: Submitted | null; wanted: number },
  reply: Reply,
) {
  const handle = reply.statementHandle ?? before?.handle
  const size = before?.size ?? wanted
  if (reply.data === undefined) {
    if (handle === undefined)
      return refusal('error', 'the answer has neither rows nor the handle of a statement')
    const polls = (before?.polls ?? 0) + 1
    const waiting = { handle, size, partition: 0, partitions: 0, columns: [], taken: 0, polls }
    const afterMs = Math.min(MAX_POLL_MS, FIRST_POLL_MS * 2 ** Math.min(polls - 1, 10))
    return { records: [], next: { place, submitted: waiting }, afterMs }
  }
  const columns = reply.resultSetMetaData?.rowType ?? before?.columns ?? []
  const keyAt = findColumn(columns, body.key_column)
  const cursorAt = body.cursor_column === undefined ? -1 : findColumn(columns, body.cursor_column)
  if (keyAt === -1) {
    const names = columns.map(({ name }) => name).join(', ')
    return refusal('ineligible', `there is no column ${body.key_column}; the columns are: ${names}`)
  }
  const rows = reply.data.map((cells) => columns.map(({ type }, at) => readCell(cells[at] ?? null, type)))
  const valueAt = (row: unknown[], at: number): Value | null =>
    at === -1 || row[at] === null ? null : { text: textOf(row[at]), type: columns[at]?.type ?? '' }
  const final = rows.at(-1)
  const cursor = final === undefined ? null : valueAt(final, cursorAt)
  const lastKey = final === undefined ? null : valueAt(final, keyAt)
  const onward: Place = {
    ...place,
    last: cursor ?? place.last,
    after: lastKey === null ? place.after : { cursor, key: lastKey },
  }
  const partitions = reply.resultSetMetaData?.partitionInfo.length ?? before?.partitions ?? 1
  const taken = (before?.taken ?? 0) + rows.length
  const partition = (before?.partition ?? 0) + 1
  const records = rows.map((row) => ({
    key: textOf(row[keyAt]),
    row: Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])),
  }))
  const next = (): State | null => {
    if (handle !== undefined && partition < partitions) {
      return { place: onward, submitted: { handle, size, partition, partitions, columns, taken, polls: 0 } }
    }
    if (taken >= size) return { place: onward, submitted: null }
    const hasNulls = body.cursor_column !== undefined && !place.isNull
    return hasNulls ? { place: { ...onward, isNull: true, after: null }, submitted: null } : null
  }
  const resume = { place: { ...START, from: onward.last ?? place.from }, submitted: null }
  const page: Page<State, Record<string, unknown>> = { records, next: next() }
  return body.cursor_column === undefined ? page : { ...page, resume }
}
