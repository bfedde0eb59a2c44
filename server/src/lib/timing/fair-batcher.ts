import { createBatcher } from './batcher.ts'
import { createFairTurns } from './fair-turns.ts'
import { createKeyedBatcher } from './keyed-batcher.ts'
import { createSlots } from './slots.ts'

/** The number of batches in flight. An owner that has none in flight may exceed it by one. */
const AT_ONCE = 4
const AT_ONCE_OF_ONE = 2

/**
 * Creates a group commit for many owners. Owners share no batch and take turns, because the items of one
 * owner may be large or many, or may write to rows that are locked.
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
