import { expect, it } from 'vitest'
import { longestTurnMs } from './testing/watched-turns.ts'
import { inTurns, pause, type Steps } from './turns.ts'

/** Works for some milliseconds, in steps of about one. */
function* burn(ms: number): Steps<number> {
  let sum = 0
  for (let n = 0; n < ms * 150_000; n += 1) {
    sum += Math.random()
    if (n % 150_000 === 0) yield
  }
  return sum
}

it('I6: all large work of the process shares one turn in each round of the event loop', async () => {
  const many = () => Promise.all(Array.from({ length: 60 }, () => inTurns(burn(8))))
  expect(await longestTurnMs(many)).toBeLessThan(60)
})

it('who waits for a turn gets one in the order of asking, and short work shares one', async () => {
  const order: string[] = []
  const work = async (name: string, ms: number) => {
    await inTurns(burn(ms))
    await pause()
    order.push(name)
  }
  let rounds = 0
  const count = () => {
    rounds += 1
    if (order.length < 40) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all([work('long', 30), ...Array.from({ length: 39 }, (_, n) => work(`short ${n}`, 0))])
  expect(order.at(-1)).toBe('long')
  expect(order.slice(0, 39)).toEqual(Array.from({ length: 39 }, (_, n) => `short ${n}`))
  expect(rounds).toBeLessThan(30)
})
