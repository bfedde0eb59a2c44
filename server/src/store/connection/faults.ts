const faults = new WeakSet<Error>()

/** Remembers an error of the statement as one of the database: a socket that fails looks the same whoever opened it. */
export function markFaults<Result>(statement: Promise<Result>): Promise<Result> {
  // Beside the caller's own handlers, and before them.
  statement.catch((cause: unknown) => {
    if (cause instanceof Error) faults.add(cause)
  })
  return statement
}

/** Whether the error came from a connection or a statement of the store. */
export function isFromDatabase(error: unknown): boolean {
  return error instanceof Error && faults.has(error)
}
