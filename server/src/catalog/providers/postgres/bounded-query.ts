import pg from 'pg'
import { EgressFault } from '../../../lib/egress/failures.ts'

/** A row of the driver: texts by column name. */
export type Texts = Record<string, string | null>

/** PostgreSQL's own limit on the columns of a result. */
const MAX_COLUMNS = 1664

/**
 * The functions by which the driver hands over what the server sent. Cursors and row streams implement the same ones.
 */
type Handlers = {
  handleRowDescription: (message: { fields: unknown[] }) => void
  handleDataRow: (message: unknown) => void
  handleCommandComplete: (message: unknown, connection: unknown) => void
}

/**
 * Runs one statement that returns at most `rows` rows, once. A server that sends more is not PostgreSQL. A limit on
 * bytes is not enough, because a few bytes can stand for a row with thousands of columns. `refuse` ends the connection.
 */
export function queryBounded(
  client: pg.Client,
  config: pg.QueryConfig & { queryMode: 'extended' },
  { rows, refuse }: { rows: number; refuse: (fault: EgressFault) => void },
): Promise<Texts[]> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query<Texts>(config, (cause, result) =>
      cause === undefined || cause === null ? resolve(result.rows) : reject(cause),
    ) as pg.Query & Handlers
    const { handleRowDescription, handleDataRow, handleCommandComplete } = query
    const seen = { descriptions: 0, rows: 0, ends: 0 }
    let isRefused = false
    const check = (isRight: boolean): boolean => {
      if (isRight || isRefused) return !isRefused
      isRefused = true
      refuse(new EgressFault('protocol', 'the server sends more than it was asked for.'))
      return false
    }
    query.handleRowDescription = (message) => {
      seen.descriptions += 1
      if (check(seen.descriptions === 1 && message.fields.length <= MAX_COLUMNS))
        handleRowDescription.call(query, message)
    }
    query.handleDataRow = (message) => {
      seen.rows += 1
      if (check(seen.rows <= rows)) handleDataRow.call(query, message)
    }
    query.handleCommandComplete = (message, connection) => {
      seen.ends += 1
      if (check(seen.ends === 1)) handleCommandComplete.call(query, message, connection)
    }
    client.query(query)
  })
}

type Reading = { on(event: string, listener: (chunk: Buffer) => void): unknown }
type Wire = { attachListeners: (this: Wire, stream: Reading) => void }

/**
 * Ends the connection if the driver cannot read what the server sent, such as a negative number of columns. The driver
 * throws while it reads a chunk, where nothing can catch it, so one message would end the process.
 */
export function guardReading(client: pg.Client, refuse: (fault: EgressFault) => void): void {
  const { connection } = client as pg.Client & { connection: Wire }
  const { attachListeners } = connection
  connection.attachListeners = (stream) => {
    const read = (listener: (chunk: Buffer) => void) => (chunk: Buffer) => {
      try {
        listener(chunk)
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        refuse(new EgressFault('protocol', `the server does not speak as PostgreSQL does (${reason}).`))
      }
    }
    attachListeners.call(connection, {
      on: (event, listener) => stream.on(event, event === 'data' ? read(listener) : listener),
    })
  }
}
