import { sql } from 'kysely'
import type { Db, Store } from './db.ts'

/**
 * Works in a transaction, which only reads unless `access` says otherwise, and cancels its statement in the database when the signal is aborted. Otherwise PostgreSQL
 * would go on working for a caller that no longer waits.
 */
export async function cancellable<Result>(
  store: Pick<Store, 'query'>,
  db: Db,
  { signal, access = 'read only' }: { signal: AbortSignal; access?: 'read only' | 'read write' },
  read: (trx: Db) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  return db
    .transaction()
    .setAccessMode(access)
    .execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      return cancelOn(store, { pid: rows[0]?.pid, signal }, () => read(trx))
    })
}

/** Reads over the connection of this process of PostgreSQL, and cancels its statement when the signal is aborted. */
export async function cancelOn<Result>(
  store: Pick<Store, 'query'>,
  { pid, signal }: { pid: number | undefined; signal: AbortSignal },
  read: () => Promise<Result>,
): Promise<Result> {
  let cancelling: Promise<unknown> = Promise.resolve()
  const cancel = () => {
    // If the cancellation cannot be sent, the database is gone and the read fails by itself.
    cancelling = store.query({ text: 'select pg_cancel_backend($1)', values: [pid] }).catch(() => undefined)
  }
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const result = await read()
    signal.throwIfAborted()
    return result
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  } finally {
    signal.removeEventListener('abort', cancel)
    // The connection goes back to the pool: a cancellation still in flight would hit its next user.
    await cancelling
  }
}
