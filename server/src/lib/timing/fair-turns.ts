import { createSlots, type Slots } from './slots.ts'

/** Long jobs that are at work at the same moment in a process. */
const AT_ONCE = 2

/**
 * Long jobs of one process share its event loop and its database. They proceed in turns, chunk by chunk: an organisation with
 * many at work has as many turns as one with a single job, which never waits for its own.
 */
export type FairTurns = {
  /** What `chunks` yields, each in a turn of its owner, which lasts until the next one is asked for. */
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

/** There is one event loop in a process. */
export const { inTurns, takeTurn } = createFairTurns(createSlots(AT_ONCE))
