import { createBatcher } from './batcher.ts'
import { createFairTurns } from './fair-turns.ts'
import { createSlots } from './slots.ts'

/** Batches at once; an owner that has none begins one all the same. */
const AT_ONCE = 4
const AT_ONCE_OF_ONE = 2

/**
 * Group commit of many owners, who share no batch and take turns: items of one may be large or many, or what they write may be
 * locked.
 */
export function createFairBatcher<Item, Result>(options: {
  ownerOf: (item: Item) => string
  run: (items: Item[]) => Promise<Result[]>
  maxItems: number
}): (item: Item) => Promise<Result> {
  const { takeTurn } = createFairTurns(createSlots(AT_ONCE))
  type Line = { add: (item: Item) => Promise<Result>; underWay: number }
  const lines = new Map<string, Line>()

  function openLine(owner: string): Line {
    const run = (items: Item[]) => takeTurn(owner, () => options.run(items))
    const add = createBatcher({ run, maxItems: options.maxItems, maxInFlight: AT_ONCE_OF_ONE })
    const line = { add, underWay: 0 }
    lines.set(owner, line)
    return line
  }

  return async (item) => {
    const owner = options.ownerOf(item)
    const line = lines.get(owner) ?? openLine(owner)
    line.underWay += 1
    try {
      return await line.add(item)
    } finally {
      line.underWay -= 1
      if (line.underWay === 0) lines.delete(owner)
    }
  }
}
