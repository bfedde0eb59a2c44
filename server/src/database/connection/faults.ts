const faults = new WeakSet<Error>()

/** Remembers an error of the statement as one of the database: a socket that fails looks the same whoever opened it. */
export function markFaults<Result>(statement: Promise<Result>): Promise<Result> {
  // Beside the caller's own handlers, and before them.
  statement.catch((cause: unknown) => {
    if (cause instanceof Error) faults.add(cause)
  })
  return statement
}

/** An error of our own that stands for what the database has come to. */
export function markFault<Fault extends Error>(fault: Fault): Fault {
  faults.add(fault)
  return fault
}

/** Whether the error came from a connection or a statement of the store. */
export function isFromDatabase(error: unknown): boolean {
  return error instanceof Error && faults.has(error)
}
