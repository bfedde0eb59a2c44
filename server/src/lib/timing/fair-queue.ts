/** Items of many owners, who take turns: whoever brings many waits behind nobody but itself. */
export type FairQueue<Item> = {
  size(): number
  sizeOf(owner: string): number
  push(owner: string, item: Item): void
  /** Items that were taken and not dealt with are their owner's next ones again. */
  putBack(owner: string, items: readonly Item[]): void
  /** Up to `max` items of the owner whose turn it is among those who `may`; null when there is none. */
  take(max: number, may?: (owner: string) => boolean): { owner: string; items: Item[] } | null
  /** False when it is not there any more. */
  remove(owner: string, item: Item): boolean
  /** Everything that is left. */
  drain(): Item[]
}

export function createFairQueue<Item>(): FairQueue<Item> {
  /** In the order of turns: who had one goes to the end. */
  const lines = new Map<string, Item[]>()
  let size = 0

  return {
    size: () => size,
    sizeOf: (owner) => lines.get(owner)?.length ?? 0,
    push(owner, item) {
      size += 1
      const line = lines.get(owner)
      if (line === undefined) lines.set(owner, [item])
      else line.push(item)
    },
    putBack(owner, items) {
      if (items.length === 0) return
      size += items.length
      lines.set(owner, [...items, ...(lines.get(owner) ?? [])])
    },
    take(max, may = () => true) {
      for (const [owner, line] of lines) {
        if (!may(owner)) continue
        const items = line.splice(0, max)
        size -= items.length
        lines.delete(owner)
        if (line.length > 0) lines.set(owner, line)
        return { owner, items }
      }
      return null
    },
    remove(owner, item) {
      const line = lines.get(owner) ?? []
      const place = line.indexOf(item)
      if (place < 0) return false
      line.splice(place, 1)
      size -= 1
      if (line.length === 0) lines.delete(owner)
      return true
    },
    drain() {
      const left = [...lines.values()].flat()
      lines.clear()
      size = 0
      return left
    },
  }
}
