import type { Connection, PoolClient, QueryConfig, QueryResult } from 'pg'
import { isOn } from '../../lib/fast-parts.ts'
import { type Answer, ask, sendQuery, StatementQuery } from './ask.ts'

const BEGIN = { name: 'begin', text: 'begin' }
/** The connections that have `begin` as a prepared statement. */
const prepared = new WeakSet<PoolClient>()

/**
 * A statement sent together with the `begin` of its transaction. The server takes both as one unit: if `begin` fails,
 * it skips the statement, so the statement never runs outside its transaction.
 */
class BeginningQuery extends StatementQuery {
  readonly #onBegun: () => void
  #hasBegun = false

  constructor(statement: QueryConfig, onBegun: () => void, callback: Answer) {
    super(statement, callback)
    this.#onBegun = onBegun
  }

  /** Sends `begin` and the statement without a Sync between them. That makes them one unit. */
  override prepare(connection: Connection): void {
    connection.bind({ statement: BEGIN.name }, true)
    connection.execute({}, true)
    super.prepare(connection)
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#hasBegun) return super.handleCommandComplete(message, connection)
    this.#hasBegun = true
    this.#onBegun()
  }
}

/**
 * Begins a transaction together with its first statement. A statement with parameters needs one round trip for both.
 */
export async function beginWith(
  client: PoolClient,
  statement: QueryConfig,
  onBegun: () => void,
): Promise<QueryResult> {
  // A text without parameters may hold several statements, which cannot be part of such a unit.
  if (!isOn('begin-with') || !prepared.has(client) || (statement.values ?? []).length === 0) {
    await ask(client, BEGIN)
    prepared.add(client)
    onBegun()
    return ask(client, statement)
  }
  return sendQuery((answer) => void client.query(new BeginningQuery(statement, onBegun, answer)))
}
