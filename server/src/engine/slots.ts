/** So many at once; the others wait in the order they came. */
export type Slots = {
  /** Nothing to wait for when it answers undefined. */
  take(): Promise<void> | undefined
  giveBack(): void
}

export function createSlots(size: number): Slots {
  const waiting: (() => void)[] = []
  let free = size
  return {
    take() {
      if (free > 0) {
        free -= 1
        return undefined
      }
      return new Promise<void>((resolve) => waiting.push(resolve))
    },
    giveBack() {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    },
  }
}
