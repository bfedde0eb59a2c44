import { sql } from 'kysely'
import { createSlots } from '../../lib/timing/slots.ts'
import { cancelOn } from './cancellation.ts'
import type { Db, Store } from './db.ts'
import { ANALYSIS } from './statement-names.ts'

/** The analyses of all organisations at once. One that has none under way begins at once. */
const AT_ONCE = 2
const slots = createSlots(AT_ONCE)

/** The memory of a sort or a hash, and one more worker at most: others need the processors too. */
const settings = sql`set_config('work_mem', '32MB', true), set_config('max_parallel_workers_per_gather', '1', true),
  set_config('jit', 'off', true), set_config('transaction_read_only', 'on', true)`

/** A transaction that ends in time. `renew` sets what is left as the limit of the next statements. */
export type Limited = { trx: Db; renew: () => Promise<void> }

/**
 * Reads much of the data of one organisation in a transaction of at most `ms`, after it waited for its turn, over connections that only such reads use: requests
 * of others do not wait for it. Its statement is cancelled when the signal is aborted, or after that time.
 */
export async function analyse<Result>(
  store: Pick<Store, 'query' | 'org'>,
  orgId: string,
  { ms, signal }: { ms: number; signal: AbortSignal },
  read: (limited: Limited) => Promise<Result>,
): Promise<Result> {
  await slots.take(orgId)
  try {
    signal.throwIfAborted()
    const deadline = performance.now() + ms
    return await store
      .org(orgId)
      .transaction()
      .execute(async (trx) => {
        const limit = () => `${Math.max(1, Math.round(deadline - performance.now()))}ms`
        const { rows } = await sql<{ pid: number }>`${sql.raw(ANALYSIS)}
          select pg_backend_pid() as pid, ${settings}, set_config('statement_timeout', ${limit()}, true)`.execute(
          trx,
        )
        const renew = async () => {
          await sql`select set_config('statement_timeout', ${limit()}, true)`.execute(trx)
        }
        return cancelOn(store, { pid: rows[0]?.pid, signal }, () => read({ trx, renew }))
      })
  } finally {
    slots.giveBack(orgId)
  }
}
