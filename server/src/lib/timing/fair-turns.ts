import { createSlots, type Slots } from './slots.ts'

/** The number of long jobs that work at the same time in a process. */
const AT_ONCE = 2

/**
 * Lets the long jobs of one process share its event loop and its database. Jobs proceed in turns, chunk by
 * chunk: an organisation with many jobs has as many turns as one with a single job. An organisation without a
 * turn gets one at once.
 */
export type FairTurns = {
  /** Yields the chunks, each in a turn of its owner. A turn lasts until the next chunk is requested. */
  inTurns: <Chunk>(owner: string, chunks: AsyncIterable<Chunk>) => AsyncGenerator<Chunk>
  takeTurn: <Result>(owner: string, work: () => Promise<Result>) => Promise<Result>
}

export function createFairTurns(slots: Slots): FairTurns {
  return {
    async *inTurns(owner, chunks) {
      let held = false
      try {
        await slots.take(owner)
        held = true
        for await (const chunk of chunks) {
          yield chunk
          held = false
          slots.giveBack(owner)
          await slots.take(owner)
          held = true
        }
      } finally {
        if (held) slots.giveBack(owner)
      }
    },
    async takeTurn(owner, work) {
      await slots.take(owner)
      try {
        return await work()
      } finally {
        slots.giveBack(owner)
      }
    },
  }
}

/** The turns of this process, which has one event loop. */
export const { inTurns, takeTurn } = createFairTurns(createSlots(AT_ONCE))
