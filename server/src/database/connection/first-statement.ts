import type { PostgresPoolClient } from 'kysely'
import type { QueryResult } from 'pg'
import type { NamingClient } from './statement-names.ts'

/** The texts that Kysely sends around the statements of a transaction that sets no isolation level. */
const [BEGIN, COMMIT, ROLLBACK] = ['begin', 'commit', 'rollback']

/**
 * Returns a connection that is taken from the pool when its first statement is known. `begin` waits for the first
 * statement of its transaction and is sent with it, so it costs no round trip.
 */
export function connectAtFirst(
  open: (text: string, isTransaction: boolean) => Promise<NamingClient>,
): PostgresPoolClient {
  let client: NamingClient | undefined
  let isBeginDue = false
  /** Rejects if the transaction did not begin. */
  let begun: Promise<void> | undefined

  async function begin(text: string, values: unknown[], onBegun: () => void): Promise<QueryResult> {
    client ??= await open(text, true)
    return client.beginWith(text, values, onBegun)
  }

  async function query(text: string, values: unknown[]): Promise<QueryResult> {
    if (text === BEGIN) {
      isBeginDue = true
      return createResult('BEGIN')
    }
    if (isBeginDue) {
      isBeginDue = false
      if (text === COMMIT || text === ROLLBACK) return createResult(text.toUpperCase())
      let hasBegun = false
      const first = begin(text, values, () => (hasBegun = true))
      begun = first.then(
        () => undefined,
        (cause: unknown) => {
          if (!hasBegun) throw cause
        },
      )
      begun.catch(() => undefined)
      return first
    }
    // Statements of a transaction that did not begin are not sent: they would run outside any transaction.
    if (text === ROLLBACK) await begun?.catch(() => undefined)
    else await begun
    if (text === ROLLBACK && client === undefined) return createResult('ROLLBACK')
    client ??= await open(text, false)
    return client.query(text, values)
  }

  return {
    // Kysely's other signature, with a cursor, needs a dialect that has cursors.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy?: boolean) => client?.release(destroy),
  }
}

/** Creates the result of a statement that need not be sent. */
function createResult(command: string): QueryResult {
  return { command, rowCount: null, oid: 0, fields: [], rows: [] }
}
