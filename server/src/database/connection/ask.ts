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

/** The parts of the driver's query class that its types leave out. */
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

/**
 * A query built from its parts. Given one object, the driver copies the object by its property descriptors, which
 * takes longer than sending the statement.
 */
export class StatementQuery extends DriverQuery {
  constructor({ text, values, name }: QueryConfig, callback: Answer) {
    super(text, values, callback)
    this.name = name
  }
}

/**
 * Sends a statement and passes the result through a callback. When the driver makes the promise, or keeps a time
 * limit, it writes `query.callback = () => ...`. V8 expects a function that is assigned to a property to live long:
 * it creates the function among old objects, and everything the function refers to, which is all rows that were read,
 * then survives the collections of young objects. Before this, nearly all pages of rows were kept until the whole
 * heap was collected.
 */
export function ask<Row extends QueryResultRow = QueryResultRow>(
  client: PoolClient,
  statement: QueryConfig,
): Promise<QueryResult<Row>> {
  return sendQuery(
    (answer: Answer<Row>) => void client.query(new StatementQuery(statement, answer as Answer)),
  )
}

/** Sends any kind of query of the driver through a callback. An error is marked as an error of the database. */
export function sendQuery<Row extends QueryResultRow = QueryResultRow>(
  send: (answer: Answer<Row>) => void,
): Promise<QueryResult<Row>> {
  return new Promise<QueryResult<Row>>((resolve, reject) => send(createCallback(resolve, reject))).then(
    resumeAndReturn<QueryResult<Row>>,
    fail,
  )
}

/** Resumes the work of the caller. */
function resumeAndReturn<Result>(result: Result): Result {
  resumeWork()
  return result
}

/** Creates the callback of a query. It is passed as an argument and never assigned, so that it dies young. */
function createCallback<Row extends QueryResultRow>(
  resolve: (result: QueryResult<Row>) => void,
  reject: (cause: Error) => void,
): Answer<Row> {
  return (cause, result) => (cause === null ? resolve(result) : reject(cause))
}

function fail(cause: unknown): never {
  if (cause instanceof Error) {
    markFault(cause)
    // A stack trace taken here leads to the caller, not to the socket.
    Error.captureStackTrace(cause)
  }
  throw cause
}
