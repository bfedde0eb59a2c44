import type { CompiledQuery, RawBuilder } from 'kysely'
import { Client, escapeLiteral } from 'pg'
import { CopyOut, type Lines } from './copy-out.ts'
import { ANY_ORGANISATION, type Db } from './db.ts'

/** The data of one organisation as it was at one moment, for as long as it takes to read it. */
export type Snapshot = {
  query<Row>(statement: RawBuilder<Row>): Promise<Row[]>
  /** The only column of a query as it is, each value with an end of line. */
  copy(statement: RawBuilder<unknown>, lineEnd: '\n' | '\r\n'): AsyncIterable<Lines>
  close(): Promise<void>
}

/**
 * On a connection of its own: reading may take minutes, longer than the limits of pooled connections, and is broken off by
 * ending it. `signal` does that too.
 */
export async function openSnapshot(
  db: Db,
  databaseUrl: string,
  orgId: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  signal.throwIfAborted()
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'loam',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    options: `-c jit=off -c work_mem=64MB ${ANY_ORGANISATION}`,
  })
  // Lost while nothing is asked: the next question finds out.
  client.on('error', () => undefined)
  const breakOff = () => client.connection.stream.destroy()
  let busy = false
  try {
    await client.connect()
    await client.query(`select set_config('loam.org', $1, false)`, [orgId])
    await client.query('begin isolation level repeatable read read only')
  } catch (cause) {
    breakOff()
    throw cause
  }
  signal.addEventListener('abort', breakOff)

  return {
    async query<Row>(statement: RawBuilder<Row>) {
      const { sql, parameters } = statement.compile(db)
      return (await client.query<Row & object>(sql, [...parameters])).rows
    },
    async *copy(statement, lineEnd) {
      const query = inlineParameters(statement.compile(db))
      busy = true
      yield* client.query(new CopyOut(`copy (${query}) to stdout with (${FORMAT})`, lineEnd, true))
      busy = false
    },
    async close() {
      signal.removeEventListener('abort', breakOff)
      if (busy) breakOff()
      else await client.end()
    },
  }
}

/** Quotes and delimiters are characters that hardly any text holds, so that few values are quoted. */
const FORMAT = `format csv, delimiter E'\\x01', quote E'\\x02'`

/** COPY takes no parameters. The driver's own quoting puts them into the text; our texts hold no other `$1`. */
export function inlineParameters({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): string {
  return sql.replace(/\$(\d+)/g, (_, number: string) => literalOf(parameters[Number(number) - 1]))
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(elementOf).join(',')}}`)
  if (typeof value === 'string') return escapeLiteral(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return `'${value}'`
  throw new Error(`a ${typeof value} cannot be part of a COPY`)
}

function elementOf(value: unknown): string {
  return `"${String(value).replace(/[\\"]/g, '\\$&')}"`
}
