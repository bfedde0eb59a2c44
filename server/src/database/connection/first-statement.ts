import type { PostgresPoolClient } from 'kysely'
import type { QueryResult } from 'pg'
import type { NamingClient } from './statement-names.ts'

/** What Kysely sends around the statements of a transaction without an isolation level of its own. */
const [BEGIN, COMMIT, ROLLBACK] = ['begin', 'commit', 'rollback']

/**
 * A connection that is taken when the first statement is known. `begin` waits for the first statement of its transaction and goes
 * with it, so that it costs no round trip.
 */
export function connectAtFirst(
  open: (text: string, isTransaction: boolean) => Promise<NamingClient>,
): PostgresPoolClient {
  let client: NamingClient | undefined
  let isBeginDue = false
  /** Fails when the transaction did not begin. */
  let begun: Promise<void> | undefined

  async function begin(text: string, values: unknown[], onBegun: () => void): Promise<QueryResult> {
    client ??= await open(text, true)
    return client.beginWith(text, values, onBegun)
  }

  async function query(text: string, values: unknown[]): Promise<QueryResult> {
    if (text === BEGIN) {
      isBeginDue = true
      return answerOf('BEGIN')
    }
    if (isBeginDue) {
      isBeginDue = false
      if (text === COMMIT || text === ROLLBACK) return answerOf(text.toUpperCase())
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
    // Whatever belongs to a transaction that did not begin is not sent: it would run outside of any.
    if (text === ROLLBACK) await begun?.catch(() => undefined)
    else await begun
    if (text === ROLLBACK && client === undefined) return answerOf('ROLLBACK')
    client ??= await open(text, false)
    return client.query(text, values)
  }

  return {
    // Kysely's other way to call it, with a cursor, needs a dialect that has one.
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy?: boolean) => client?.release(destroy),
  }
}

/** Of statements that need not be sent. */
function answerOf(command: string): QueryResult {
  return { command, rowCount: null, oid: 0, fields: [], rows: [] }
}
