import type { CompiledQuery, RawBuilder } from 'kysely'
import { Client, escapeLiteral } from 'pg'
import { CopyOut, type Lines } from './copy-out.ts'
import { ANY_ORGANISATION, type Db } from './db.ts'

/** The data of one organisation as of one moment. It lasts until it is closed. */
export type Snapshot = {
  query<Row>(statement: RawBuilder<Row>): Promise<Row[]>
  /** Yields the only column of a query unchanged, with a line end after each value. */
  copy(statement: RawBuilder<unknown>, lineEnd: '\n' | '\r\n'): AsyncIterable<Lines>
  close(): Promise<void>
}

/**
 * Opens a snapshot on a connection of its own. Reading may take minutes, longer than the limits of pooled connections
 * allow; ending the connection ends the read. Aborting `signal` does so too.
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
  // A connection lost while idle fails the next query.
  client.on('error', () => undefined)
  const disconnect = () => client.connection.stream.destroy()
  let busy = false
  try {
    await client.connect()
    await client.query(`select set_config('loam.org', $1, false)`, [orgId])
    await client.query('begin isolation level repeatable read read only')
  } catch (cause) {
    disconnect()
    throw cause
  }
  signal.addEventListener('abort', disconnect)

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
      signal.removeEventListener('abort', disconnect)
      if (busy) disconnect()
      else await client.end()
    },
  }
}

/** The format of a COPY. Hardly any text holds these characters, so few values are quoted. */
const FORMAT = `format csv, delimiter E'\\x01', quote E'\\x02'`

/**
 * Writes the parameters of a statement into its text, since COPY takes none. The driver quotes the values; our texts
 * hold no other `$1`.
 */
export function inlineParameters({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): string {
  return sql.replace(/\$(\d+)/g, (_, number: string) => toLiteral(parameters[Number(number) - 1]))
}

function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(toArrayElement).join(',')}}`)
  if (typeof value === 'string') return escapeLiteral(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return `'${value}'`
  throw new Error(
    `a parameter of a COPY statement has the type ${typeof value}: use text, a number, a boolean or an array`,
  )
}

function toArrayElement(value: unknown): string {
  return `"${String(value).replace(/[\\"]/g, '\\$&')}"`
}
