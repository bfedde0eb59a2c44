import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { markFault } from './faults.ts'

export type Answer<Row extends QueryResultRow = QueryResultRow> = (
  cause: Error | null,
  result: QueryResult<Row>,
) => void

/**
 * Sends a statement, by a callback. Where the driver makes the promise, or keeps a time limit, it writes `query.callback = () => ...`,
 * and V8 takes a function that is assigned to a property for one that lives long: it is made among old objects, and all that it
 * refers to, which is all that was read, then outlives the collections of young ones. Pages of rows were nearly all kept until the
 * whole heap was collected.
 */
export function ask<Row extends QueryResultRow = QueryResultRow>(
  client: PoolClient,
  statement: QueryConfig,
): Promise<QueryResult<Row>> {
  return askFor<Row>((answer) => client.query(statement, answer))
}

/** The same for a query of another kind. A failure is marked as one of the database. */
export function askFor<Row extends QueryResultRow = QueryResultRow>(
  send: (answer: Answer<Row>) => void,
): Promise<QueryResult<Row>> {
  return new Promise<QueryResult<Row>>((resolve, reject) => send(answerTo(resolve, reject))).catch(fail)
}

/** Passed on, not assigned: it dies young. */
function answerTo<Row extends QueryResultRow>(
  resolve: (result: QueryResult<Row>) => void,
  reject: (cause: Error) => void,
): Answer<Row> {
  return (cause, result) => (cause === null ? resolve(result) : reject(cause))
}

function fail(cause: unknown): never {
  if (cause instanceof Error) {
    markFault(cause)
    // From here it leads to who asked, not to the socket.
    Error.captureStackTrace(cause)
  }
  throw cause
}
