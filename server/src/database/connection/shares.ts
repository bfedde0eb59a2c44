/** Waits for a connection no longer than the driver does for one of its own. */
const WAIT_MS = 5000

type Waiting = { grant: () => void; timer: NodeJS.Timeout }
type Held = { count: number; waiting: Waiting[] }

export type Shares = ReturnType<typeof createShares>

/**
 * Limits how many connections of a pool speak for one organisation at once: statements that take long, or transactions that stay
 * open, then leave the others' connections free. An organisation that has the process for itself has the whole pool.
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
          // In the driver's words, so that it is answered as a pool without a free connection is.
          reject(
            new Error("timeout exceeded when trying to connect: the organisation's connections are in use"),
          )
        }, WAIT_MS),
      }
      held.waiting.push(waiting)
    })
  }

  return {
    /** Returns undefined where the connection is granted at once. */
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
