import { expect, it } from 'vitest'
import { createFairTurns } from './fair-turns.ts'
import { createSlots } from './slots.ts'

async function* count(until: number): AsyncGenerator<number> {
  for (let n = 0; n < until; n++) yield n
}

it('a job of another organisation has as many turns as all jobs of one that has many', async () => {
  const { inTurns } = createFairTurns(createSlots(2))
  const done: string[] = []
  const work = async (owner: string, job: string, until: number) => {
    for await (const _chunk of inTurns(owner, count(until))) {
      done.push(job)
      await new Promise(setImmediate)
    }
  }
  const flood = Array.from({ length: 8 }, (_, n) => work('a', `a${n}`, 10))
  await work('b', 'b', 10)
  const beside = done.slice(0, done.lastIndexOf('b')).filter((job) => job !== 'b').length
  expect(beside).toBeLessThanOrEqual(22)
  await Promise.all(flood)
  expect(done).toHaveLength(90)
})

it('a turn is released when the work throws, and when its reader stops', async () => {
  const { inTurns, takeTurn } = createFairTurns(createSlots(1))
  await expect(takeTurn('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  for await (const _chunk of inTurns('a', count(3))) break
  // The turn is free: a second job of the same organisation does not have to wait.
  await Promise.all([takeTurn('a', async () => undefined), takeTurn('a', async () => undefined)])
})
