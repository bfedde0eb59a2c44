import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { isUnavailable } from '../connection/db.ts'

const PAUSE_MS = 200
/**
 * Who has a job, or that it is done, may be forgotten when PostgreSQL itself crashes: it is then taken up again, and the flight
 * says whether there is something left to do. So nobody waits for the disk here. Plans are made once.
 */
const UNHURRIED = '-c synchronous_commit=off -c plan_cache_mode=force_generic_plan'
/** Statements of graphile-worker that say what became of jobs. Said twice they do nothing more than said once. */
export const REPORT = /^(complete|fail|return)_jobs?(_q)?\//

/**
 * Connections for a pool of graphile-worker, which takes itself out of service when one report of a job fails. Reports are
 * therefore repeated until they arrive. Any other statement that is lost with its connection may have locked jobs that
 * nobody knows of: `onLost` hears of it.
 */
export class JobConnections extends ConnectionPool {
  readonly #onLost: () => void
  #closed = false

  constructor(databaseUrl: string, onLost: () => void) {
    super({
      connectionString: databaseUrl,
      max: 4,
      connectionTimeoutMillis: 5000,
      application_name: 'loam jobs',
      options: UNHURRIED,
    })
    this.#onLost = onLost
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Parameters<ConnectionPool['connect']>[0]): void
  override connect(callback?: Parameters<ConnectionPool['connect']>[0]): Promise<PoolClient> | void {
    if (callback !== undefined)
      return super.connect((cause, client, done) => callback(cause, client, once(done)))
    // Only what graphile-worker asks of a client it borrows; the connection behind it is taken when it is needed.
    return Promise.resolve(this.#lend() as PoolClient)
  }

  #lend(): Pick<PoolClient, 'query' | 'release'> {
    let held: PoolClient | undefined
    let broken = false
    const query = async (statement: string | { name?: string; text: string }, values?: unknown[]) => {
      if (typeof statement === 'object' && REPORT.test(statement.name ?? '')) return this.#report(statement)
      held ??= await super.connect()
      try {
        return await held.query(statement as string, values)
      } catch (cause) {
        broken = isUnavailable(cause)
        if (broken) this.#onLost()
        throw cause
      }
    }
    return { query: query as PoolClient['query'], release: () => held?.release(broken) }
  }

  async #report(statement: { name?: string; text: string }) {
    for (;;) {
      let client: PoolClient | undefined
      try {
        client = await super.connect()
        const result = await client.query(statement)
        client.release()
        return result
      } catch (cause) {
        client?.release(true)
        if (this.#closed || !isUnavailable(cause)) throw cause
        await sleep(PAUSE_MS)
      }
    }
  }

  override async close(): Promise<void> {
    this.#closed = true
    await super.close()
  }
}

/** A listener whose connection is lost while it is given up is released by both ways, and pg takes the second for a fault. */
function once<Given extends unknown[]>(
  // A pool that is closed answers with a cause and nothing to release, whatever its type says.
  act: ((...given: Given) => void) | undefined,
): (...given: Given) => void {
  let acted = false
  return (...given) => {
    if (!acted) act?.(...given)
    acted = true
  }
}
