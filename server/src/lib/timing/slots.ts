import { createFairQueue } from './fair-queue.ts'

/**
 * A limit on concurrent work, which may change over time. Excess callers wait, and organisations take turns.
 * An organisation that holds no slot gets its first at once, above the limit, so that long calls of others
 * never block it.
 */
export type Slots = {
  /**
   * Takes slots. Returns undefined if they are granted at once. A caller that takes several may take more
   * than are free.
   */
  take(owner: string, count?: number): Promise<void> | undefined
  giveBack(owner: string, count?: number): void
}

export function createSlots(size: number | (() => number)): Slots {
  const waiting = createFairQueue<{ count: number; resolve: () => void }>()
  const held = new Map<string, number>()
  const sizeNow = typeof size === 'number' ? () => size : size
  let used = 0

  function grant(owner: string, count: number): void {
    used += count
    held.set(owner, (held.get(owner) ?? 0) + count)
  }
  /** Grants slots to the next waiting caller. Returns false if none waits. */
  function grantNext(may?: (owner: string) => boolean): boolean {
    const next = waiting.take(1, may)
    if (next === null) return false
    for (const { count, resolve } of next.items) {
      grant(next.owner, count)
      resolve()
    }
    return true
  }

  return {
    take(owner, count = 1) {
      if (used < sizeNow() || !held.has(owner)) {
        grant(owner, count)
        return undefined
      }
      return new Promise<void>((resolve) => waiting.push(owner, { count, resolve }))
    },
    giveBack(owner, count = 1) {
      used -= count
      const left = (held.get(owner) ?? 0) - count
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      while (used < sizeNow() && grantNext());
      if (!held.has(owner)) grantNext((one) => one === owner)
    },
  }
}
