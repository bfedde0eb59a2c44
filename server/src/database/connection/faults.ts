const faults = new WeakSet<Error>()

/** Marks an error of the statement as an error of the database. A failed socket looks the same for every owner. */
export function markFaults<Result>(statement: Promise<Result>): Promise<Result> {
  // Runs in addition to the caller's own handlers, and before them.
  statement.catch((cause: unknown) => {
    if (cause instanceof Error) faults.add(cause)
  })
  return statement
}

/** Marks an error of our own that reports a failure of the database. */
export function markFault<Fault extends Error>(fault: Fault): Fault {
  faults.add(fault)
  return fault
}

/** Returns true if the error came from a connection or a statement of the store. */
export function isFromDatabase(error: unknown): boolean {
  return error instanceof Error && faults.has(error)
}
