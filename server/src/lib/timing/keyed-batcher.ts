import { isOn } from '../fast-parts.ts'

type Batcher<Item, Result> = (item: Item) => Promise<Result>

/**
 * Passes each item to the batcher of its key, so that a batch never contains items of two keys. A batcher is
 * created for the first item of its key and kept while items of the key are in flight.
 */
export function createKeyedBatcher<Item, Result>(options: {
  keyOf: (item: Item) => string
  make: (first: Item) => Batcher<Item, Result>
}): Batcher<Item, Result> {
  const lines = new Map<string, { add: Batcher<Item, Result>; underWay: number }>()

  function openLine(key: string, first: Item) {
    const line = { add: options.make(first), underWay: 0 }
    lines.set(key, line)
    return line
  }

  return async (item) => {
    if (!isOn('cell-batches')) return options.make(item)(item)
    const key = options.keyOf(item)
    const line = lines.get(key) ?? openLine(key, item)
    line.underWay += 1
    try {
      return await line.add(item)
    } finally {
      line.underWay -= 1
      if (line.underWay === 0) lines.delete(key)
    }
  }
}
