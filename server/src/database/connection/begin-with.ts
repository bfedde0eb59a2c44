import type { Connection, PoolClient, QueryConfig, QueryResult } from 'pg'
import { type Answer, ask, askFor, StatementQuery } from './ask.ts'

const BEGIN = { name: 'begin', text: 'begin' }
/** Connections that have it as a prepared statement. */
const prepared = new WeakSet<PoolClient>()

/**
 * A statement with the `begin` of its transaction before it. The server takes both as one unit: should `begin` fail, it skips the
 * statement, which so never runs outside of its transaction.
 */
class BeginningQuery extends StatementQuery {
  readonly #onBegun: () => void
  #hasBegun = false

  constructor(statement: QueryConfig, onBegun: () => void, callback: Answer) {
    super(statement, callback)
    this.#onBegun = onBegun
  }

  /** No Sync stands between the two: that is what makes them one unit. */
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

/** Begins a transaction with its first statement: in one round trip, where the statement has parameters. */
export async function beginWith(
  client: PoolClient,
  statement: QueryConfig,
  onBegun: () => void,
): Promise<QueryResult> {
  // A text without parameters may be several statements, which are no part of such a unit.
  if (!prepared.has(client) || (statement.values ?? []).length === 0) {
    await ask(client, BEGIN)
    prepared.add(client)
    onBegun()
    return ask(client, statement)
  }
  return askFor((answer) => void client.query(new BeginningQuery(statement, onBegun, answer)))
}
