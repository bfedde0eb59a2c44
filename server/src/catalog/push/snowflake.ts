import { z } from 'zod'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import type { Option } from '../fields/field.ts'
import { mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { snowflake } from '../providers/snowflake/provider.ts'
import type { WireValues } from './values.ts'

const MAX_LENGTH = 255
export const isSnowflakeName = (name: string): boolean =>
  name !== '' && name.length <= MAX_LENGTH && !/["\0]/.test(name)

/** Prints a name. Names without quotes are read in upper case, so all others are quoted. */
const printName = (name: string): string => (/^[A-Za-z_][\w$]*$/.test(name) ? name : `"${name}"`)

const PART = String.raw`([A-Za-z_][\w$]*|"[^"\0]+")`
const TABLE = new RegExp(`^${PART}(\\.${PART}){0,2}$`)
export const isSnowflakeTable = (text: string): boolean => TABLE.test(text)

const Shown = z.object({
  resultSetMetaData: z.object({ rowType: z.array(z.object({ name: z.string() })) }).optional(),
  data: z.array(z.array(z.string().nullable())).default([]),
})

/** Returns the names that a SHOW command lists in its column "name". */
export async function listShown(send: SendRequest, statement: string): Promise<ProviderReply<Option[]>> {
  const json = { statement, timeout: 30 }
  const reply = await send({ method: 'POST', path: '/api/v2/statements', json }, Shown)
  return mapReply(reply, ({ data, resultSetMetaData }) => {
    const at = resultSetMetaData?.rowType.findIndex(({ name }) => name === 'name') ?? -1
    return data.flatMap((row) => {
      const name = row[at] ?? null
      return name === null ? [] : [{ value: name, label: name }]
    })
  })
}

const quote = (name: string) => `"${name}"`
const database = { field: 'database', fits: isSnowflakeName }
const schema = { field: 'schema', fits: isSnowflakeName }

export const SNOWFLAKE_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Snowflake warehouses': { provider: snowflake, list: (send) => listShown(send, 'show warehouses') },
  'Snowflake databases': { provider: snowflake, list: (send) => listShown(send, 'show databases') },
  'Snowflake schemas': {
    provider: snowflake,
    parent: database,
    list: (send, name) => listShown(send, `show schemas in database ${quote(name)}`),
  },
  'Snowflake tables': {
    provider: snowflake,
    parent: schema,
    within: database,
    list: (send, name, within) => listShown(send, `show tables in schema ${quote(within)}.${quote(name)}`),
  },
}

type Binding = { type: 'TEXT'; value: string | null }

/**
 * Returns the statement that inserts one row. Values are bound as texts, which Snowflake converts to the types of the
 * columns. Names were checked before.
 */
export function printInsert(
  table: string,
  values: WireValues,
): { statement: string; bindings: Record<string, Binding> } {
  const columns = [...values.keys()].map(printName)
  const given = [...values.values()]
  const places = given.map((value) => (isNested(value) ? 'parse_json(?)' : '?'))
  return {
    statement: `insert into ${table} (${columns.join(', ')}) select ${places.join(', ')}`,
    bindings: Object.fromEntries(
      given.map((value, n) => [String(n + 1), { type: 'TEXT', value: toText(value) }]),
    ),
  }
}

const isNested = (value: unknown): boolean =>
  Array.isArray(value) || (isObject(value) && !(value instanceof NumberText))

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  return value instanceof NumberText ? value.source : JSON.stringify(value)
}
