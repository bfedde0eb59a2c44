import { type Db, isUnavailable } from './db.ts'
import { runTransaction } from './transaction-end.ts'

/** A transaction that is ended elsewhere than where it began, such as the transaction of a whole request. */
export type OpenTransaction = {
  trx: Db
  commit: () => Promise<void>
  rollback: () => Promise<void>
}

class RolledBack extends Error {}

export async function openTransaction(db: Db): Promise<OpenTransaction> {
  const opened = Promise.withResolvers<Db>()
  const decided = Promise.withResolvers<void>()
  const ended = runTransaction(db, async (trx) => {
    opened.resolve(trx)
    await decided.promise
  })
  ended.catch(opened.reject)
  return {
    trx: await opened.promise,
    async commit() {
      decided.resolve()
      await ended
    },
    async rollback() {
      decided.reject(new RolledBack())
      // A transaction whose connection was lost is already rolled back.
      await ended.catch((cause: unknown) => {
        if (!(cause instanceof RolledBack) && !isUnavailable(cause)) throw cause
      })
    },
  }
}
