/** The longest wait for a connection: the driver's own limit for a new connection. */
const WAIT_MS = 5000

type Waiting = { grant: () => void; timer: NodeJS.Timeout }
type Held = { count: number; waiting: Waiting[] }

export type Shares = ReturnType<typeof createShares>

/**
 * Limits how many connections of a pool one organisation uses at once. Slow statements and open transactions of one
 * organisation then leave connections free for the others. An organisation that is the only one in the process may
 * use the whole pool.
 */
export function createShares(limit: () => number) {
  const byOrg = new Map<string, Held>()

  function enqueue(held: Held): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        grant: () => {
          clearTimeout(waiting.timer)
          resolve()
        },
        timer: setTimeout(() => {
          held.waiting.splice(held.waiting.indexOf(waiting), 1)
          // The driver's words make callers treat the error like a pool without a free connection.
          reject(
            new Error("timeout exceeded when trying to connect: the organisation's connections are in use"),
          )
        }, WAIT_MS),
      }
      held.waiting.push(waiting)
    })
  }

  return {
    /** Returns undefined if the connection is granted at once. */
    take(org: string): Promise<void> | undefined {
      const held = byOrg.get(org) ?? { count: 0, waiting: [] }
      byOrg.set(org, held)
      if (held.count >= limit()) return enqueue(held)
      held.count += 1
      return undefined
    },
    giveBack(org: string): void {
      const held = byOrg.get(org)
      if (held === undefined) return
      held.count -= 1
      while (held.count < limit()) {
        const next = held.waiting.shift()
        if (next === undefined) break
        held.count += 1
        next.grant()
      }
      if (held.count === 0 && held.waiting.length === 0) byOrg.delete(org)
    },
  }
}
