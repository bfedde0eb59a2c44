import { once } from 'node:events'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import './known-columns.ts'

/**
 * The longest time to wait for the server to confirm closed connections. A server that cannot be reached never
 * confirms.
 */
const CLOSE_TIMEOUT_MS = 2000

/**
 * A pool that survives lost connections. Its `close` waits until the server knows that the connections are closed;
 * `end` of pg does not. If PostgreSQL is told to stop right after `end`, it reports every connection as lost.
 */
export class ConnectionPool extends Pool {
  readonly #open = new Set<PoolClient>()

  constructor(config: PoolConfig, onIdleLost: (cause: Error) => void = () => undefined) {
    super(config)
    this.on('error', onIdleLost)
    this.on('connect', (client) => {
      this.#open.add(client)
      // A connection lost while in use fails its statement. Without this listener, the event would also end the
      // process.
      client.on('error', () => undefined)
    })
    this.on('remove', (client) => this.#open.delete(client))
  }

  async close(): Promise<void> {
    await this.end()
    const timeout = AbortSignal.timeout(CLOSE_TIMEOUT_MS)
    while (this.#open.size > 0 && !timeout.aborted) {
      await once(this, 'remove', { signal: timeout }).catch(() => undefined)
    }
  }
}
