import { once } from 'node:events'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import './known-columns.ts'

/** A server that cannot be reached any more does not say goodbye. */
const GOODBYE_MS = 2000

/**
 * A pool that lives through lost connections, and whose `close` waits until the server knows that its connections are closed.
 * `end` of pg does not: PostgreSQL, told to end right after it, would report every one of them as lost.
 */
export class ConnectionPool extends Pool {
  readonly #open = new Set<PoolClient>()

  constructor(config: PoolConfig, onIdleLost: (cause: Error) => void = () => undefined) {
    super(config)
    this.on('error', onIdleLost)
    this.on('connect', (client) => {
      this.#open.add(client)
      // One that is lost while it is in use fails its statement; unheard, the event would end the process as well.
      client.on('error', () => undefined)
    })
    this.on('remove', (client) => this.#open.delete(client))
  }

  async close(): Promise<void> {
    await this.end()
    const patience = AbortSignal.timeout(GOODBYE_MS)
    while (this.#open.size > 0 && !patience.aborted) {
      await once(this, 'remove', { signal: patience }).catch(() => undefined)
    }
  }
}
