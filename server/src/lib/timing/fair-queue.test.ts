import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFairQueue } from './fair-queue.ts'

function fill(owners: Record<string, number>) {
  const queue = createFairQueue<string>()
  for (const [owner, count] of Object.entries(owners))
    for (let n = 1; n <= count; n += 1) queue.push(owner, `${owner}${n}`)
  return queue
}

it('owners take turns, each in its own order', () => {
  const queue = fill({ a: 5, b: 1, c: 2 })
  const taken = Array.from({ length: 6 }, () => queue.take(1)?.items[0])
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  expect(queue.size()).toBe(2)
})

it('a turn is of one owner, however many it takes', () => {
  const queue = fill({ a: 3, b: 9 })
  expect(queue.take(5)).toEqual({ owner: 'a', items: ['a1', 'a2', 'a3'] })
  expect(queue.take(5)).toMatchObject({ owner: 'b', items: { length: 5 } })
})

it('items that are put back come first, and owners that may not take are skipped', () => {
  const queue = fill({ a: 3, b: 1 })
  queue.putBack('a', queue.take(2)?.items ?? [])
  expect(queue.take(1, (owner) => owner === 'a')?.items).toEqual(['a1'])
  expect(queue.take(1, () => false)).toBeNull()
  expect(queue.drain()).toHaveLength(3)
  expect([queue.size(), queue.take(1)]).toEqual([0, null])
})

it('no owner waits for more than one turn of each other owner', () => {
  const owner = fc.constantFrom('a', 'b', 'c', 'd')
  fc.assert(
    fc.property(fc.array(fc.option(owner), { maxLength: 100 }), (steps) => {
      const queue = createFairQueue<string>()
      const turnsSince = new Map<string, Map<string, number>>()
      for (const step of steps) {
        if (step !== null) {
          queue.push(step, step)
          if (!turnsSince.has(step)) turnsSince.set(step, new Map())
          continue
        }
        const turn = queue.take(1)
        if (turn === null) continue
        turnsSince.delete(turn.owner)
        for (const passed of turnsSince.values()) {
          passed.set(turn.owner, (passed.get(turn.owner) ?? 0) + 1)
          expect(passed.get(turn.owner)).toBe(1)
        }
      }
    }),
  )
})
