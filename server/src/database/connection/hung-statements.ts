import type { PoolClient } from 'pg'
import { driverClient } from './driver-client.ts'

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
    for (const [client, at] of askedAt) if (at < latest) driverClient(client).connection.stream.destroy()
  }, afterMs / LOOKS)
  timer.unref()

  return {
    begin: (client: PoolClient): void => void askedAt.set(client, performance.now()),
    end: (client: PoolClient): void => void askedAt.delete(client),
    close: () => clearInterval(timer),
  }
}
