import { createBatcher } from './batcher.ts'
import { createFairTurns } from './fair-turns.ts'
import { createKeyedBatcher } from './keyed-batcher.ts'
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
  return createKeyedBatcher({
    keyOf: options.ownerOf,
    make(first) {
      const owner = options.ownerOf(first)
      const run = (items: Item[]) => takeTurn(owner, () => options.run(items))
      return createBatcher({ run, maxItems: options.maxItems, maxInFlight: AT_ONCE_OF_ONE })
    },
  })
}
