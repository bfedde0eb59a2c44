import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** What db.ts, which stands on this file, calls `Db`. */
export type Handle = Kysely<Schema>

type Listener = (isCommitted: boolean) => void

const heard = new WeakMap<Handle, { opener: Handle; listeners: Listener[] }>()

/** A transaction of its own, whose end others can hear of: `hearEnd`. */
export async function runTransaction<Result>(
  db: Handle,
  work: (trx: Handle) => Promise<Result>,
): Promise<Result> {
  const listeners: Listener[] = []
  let isCommitted = false
  try {
    const result = await db.transaction().execute((trx) => {
      heard.set(trx, { opener: db, listeners })
      return work(trx)
    })
    isCommitted = true
    return result
  } finally {
    for (const listener of listeners) listener(isCommitted)
  }
}

/** The handle that a transaction was opened on; undefined when nobody hears of its end. */
export function openerOf(trx: Handle): Handle | undefined {
  return heard.get(trx)?.opener
}

/** Told whether it was committed. When its connection was lost meanwhile that is not known, and `false` is said. */
export function hearEnd(trx: Handle, listener: Listener): void {
  heard.get(trx)?.listeners.push(listener)
}
