import {
  type Connection,
  type PoolClient,
  Query,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
  type Submittable,
} from 'pg'
import { resumeWork } from '../../lib/timing/thread-watch.ts'
import { markFault } from './faults.ts'

export type Answer<Row extends QueryResultRow = QueryResultRow> = (
  cause: Error | null,
  result: QueryResult<Row>,
) => void

/** What the driver has for queries beside what its types name. */
type DriverQuery = Submittable & {
  name: string | undefined
  prepare(connection: Connection): void
  handleCommandComplete(message: unknown, connection: Connection): void
}
const DriverQuery = Query as unknown as new (
  text: string,
  values: unknown[] | undefined,
  callback: Answer,
) => DriverQuery

/** Of parts: the driver copies a statement that is one object by way of its descriptors, which takes longer than to send it. */
export class StatementQuery extends DriverQuery {
  constructor({ text, values, name }: QueryConfig, callback: Answer) {
    super(text, values, callback)
    this.name = name
  }
}

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
  return askFor((answer: Answer<Row>) => void client.query(new StatementQuery(statement, answer as Answer)))
}

/** The same for a query of another kind. A failure is marked as one of the database. */
export function askFor<Row extends QueryResultRow = QueryResultRow>(
  send: (answer: Answer<Row>) => void,
): Promise<QueryResult<Row>> {
  return new Promise<QueryResult<Row>>((resolve, reject) => send(answerTo(resolve, reject))).then(
    resumeWith<QueryResult<Row>>,
    fail,
  )
}

/** Goes on with the work of whoever asked. */
function resumeWith<Result>(result: Result): Result {
  resumeWork()
  return result
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
