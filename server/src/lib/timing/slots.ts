import { createFairQueue } from './fair-queue.ts'

/**
 * So many at once, which may change. The others wait, and organisations take turns. One that has none gets its first at once, beyond the size:
 * however long the calls of others take, nobody is kept from going on.
 */
export type Slots = {
  /** Nothing to wait for when it answers undefined. */
  take(owner: string): Promise<void> | undefined
  giveBack(owner: string): void
}

export function createSlots(size: number | (() => number)): Slots {
  const waiting = createFairQueue<() => void>()
  const held = new Map<string, number>()
  const sizeNow = typeof size === 'number' ? () => size : size
  let used = 0

  function grant(owner: string): void {
    used += 1
    held.set(owner, (held.get(owner) ?? 0) + 1)
  }
  /** False when there is nobody to grant it to. */
  function grantNext(may?: (owner: string) => boolean): boolean {
    const next = waiting.take(1, may)
    if (next === null) return false
    grant(next.owner)
    for (const resolve of next.items) resolve()
    return true
  }

  return {
    take(owner) {
      if (used < sizeNow() || !held.has(owner)) {
        grant(owner)
        return undefined
      }
      return new Promise<void>((resolve) => waiting.push(owner, resolve))
    },
    giveBack(owner) {
      used -= 1
      const left = (held.get(owner) ?? 0) - 1
      if (left > 0) held.set(owner, left)
      else held.delete(owner)
      while (used < sizeNow() && grantNext());
      if (!held.has(owner)) grantNext((one) => one === owner)
    },
  }
}
