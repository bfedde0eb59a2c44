import { createFairQueue } from './fair-queue.ts'

/**
 * So many at once. The others wait, and organisations take turns. One that has none gets its first at once, beyond the size:
 * however long the calls of others take, nobody is kept from going on.
 */
export type Slots = {
  /** Nothing to wait for when it answers undefined. */
  take(owner: string): Promise<void> | undefined
  giveBack(owner: string): void
}

export function createSlots(size: number): Slots {
  const waiting = createFairQueue<() => void>()
  const held = new Map<string, number>()
  let free = size

  function grant(owner: string): void {
    free -= 1
    held.set(owner, (held.get(owner) ?? 0) + 1)
  }
  function grantNext(may?: (owner: string) => boolean): void {
    const next = waiting.take(1, may)
    if (next === null) return
    grant(next.owner)
    for (const resolve of next.items) resolve()
  }

  return {
    take(owner) {
      if (free > 0 || !held.has(owner)) {
        grant(owner)
        return undefined
      }
      return new Promise<void>((resolve) => waiting.push(owner, resolve))
    },
    giveBack(owner) {
      free += 1
      const left = (held.get(owner) ?? 0) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      if (free > 0) grantNext()
      if (!held.has(owner)) grantNext((one) => one === owner)
    },
  }
}
