/** A queue of items of many owners, who take turns: an owner with many items delays only itself. */
export type FairQueue<Item> = {
  size(): number
  sizeOf(owner: string): number
  push(owner: string, item: Item): void
  /** Puts back items that were taken but not processed. They become their owner's next items. */
  putBack(owner: string, items: readonly Item[]): void
  /** Takes up to `max` items of the next owner that `may` allows. Returns null if there is none. */
  take(max: number, may?: (owner: string) => boolean): { owner: string; items: Item[] } | null
  /** Removes an item. Returns false if it is not in the queue any more. */
  remove(owner: string, item: Item): boolean
  /** Removes and returns all items. */
  drain(): Item[]
}

export function createFairQueue<Item>(): FairQueue<Item> {
  /** The owners in the order of their turns. An owner that had its turn moves to the end. */
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
