import { createFairQueue } from './fair-queue.ts'

/**
 * So many at once, which may change. The others wait, and organisations take turns. One that has none gets its first at once, beyond the size:
 * however long the calls of others take, nobody is kept from going on.
 */
export type Slots = {
  /** Nothing to wait for when it answers undefined. Who takes several at once may take more than are left. */
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
  /** False when there is nobody to grant it to. */
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
