import type { PoolClient } from 'pg'

/** Of the time that a statement may take. */
const LOOKS = 10

/**
 * Ends connections whose statement has not ended after so long, which fails it. One timer for all of them: the driver's own limit
 * is one for each statement, and keeps what it read (see `ask`).
 */
export function watchForHung(afterMs: number) {
  const askedAt = new Map<PoolClient, number>()
  const timer = setInterval(() => {
    const latest = performance.now() - afterMs
    for (const [client, at] of askedAt) if (at < latest) connectionOf(client).stream.destroy()
  }, afterMs / LOOKS)
  timer.unref()

  return {
    begin: (client: PoolClient): void => void askedAt.set(client, performance.now()),
    end: (client: PoolClient): void => void askedAt.delete(client),
    close: () => clearInterval(timer),
  }
}

/** What is lent by a pool is a client of the driver, although its type does not say so. */
const connectionOf = (client: PoolClient) =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection
