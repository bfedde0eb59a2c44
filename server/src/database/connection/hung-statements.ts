import type { PoolClient } from 'pg'
import { driverClient } from './driver-client.ts'

/** The number of checks within the time that a statement may take. */
const CHECKS = 10

/**
 * Ends connections whose statement has not ended after `afterMs`, which makes the statement fail. One timer serves
 * all statements: the driver's own limit needs a timer for each, and keeps what was read (see `ask`).
 */
export function watchForHung(afterMs: number) {
  const askedAt = new Map<PoolClient, number>()
  const timer = setInterval(() => {
    const latest = performance.now() - afterMs
    for (const [client, at] of askedAt) if (at < latest) driverClient(client).connection.stream.destroy()
  }, afterMs / CHECKS)
  timer.unref()

  return {
    begin: (client: PoolClient): void => void askedAt.set(client, performance.now()),
    end: (client: PoolClient): void => void askedAt.delete(client),
    close: () => clearInterval(timer),
  }
}
