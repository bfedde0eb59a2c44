import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** The type that db.ts calls `Db`. It stands here because db.ts imports this file. */
export type Handle = Kysely<Schema>

type Listener = (isCommitted: boolean) => void

const transactions = new WeakMap<Handle, { opener: Handle; listeners: Listener[] }>()

/** Runs `work` in a new transaction. `listenForEnd` adds listeners for its end. */
export async function runTransaction<Result>(
  db: Handle,
  work: (trx: Handle) => Promise<Result>,
): Promise<Result> {
  const listeners: Listener[] = []
  let isCommitted = false
  try {
    const result = await db.transaction().execute((trx) => {
      transactions.set(trx, { opener: db, listeners })
      return work(trx)
    })
    isCommitted = true
    return result
  } finally {
    for (const listener of listeners) listener(isCommitted)
  }
}

/** Returns the handle on which a transaction was opened; undefined if `runTransaction` did not open it. */
export function findOpener(trx: Handle): Handle | undefined {
  return transactions.get(trx)?.opener
}

/**
 * Calls the listener when the transaction ends, with true if it was committed. If its connection was lost during the
 * commit, the outcome is unknown and the listener gets false.
 */
export function listenForEnd(trx: Handle, listener: Listener): void {
  transactions.get(trx)?.listeners.push(listener)
}
