import { setTimeout as sleep, setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createCourtesy } from './yielding.ts'

/** Rows that go on one by one, as they are let. */
function queueRows(courtesy: ReturnType<typeof createCourtesy>, count: number) {
  const gone: number[] = []
  const all = Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await courtesy.turn()
      gone.push(n)
    }),
  )
  return { gone, all }
}

it('rows go on in small turns and in their order, and others come to theirs in between', async () => {
  const courtesy = createCourtesy()
  const { gone, all } = queueRows(courtesy, 100)
  const seen: number[] = []
  while (gone.length < 100) {
    await nextTurn()
    seen.push(gone.length)
  }
  await all
  expect(gone).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(seen.filter((count, n) => count - (seen[n - 1] ?? 0) > 16)).toEqual([])
})

it('they rest while somebody waits, and go on at once when nobody does', async () => {
  const courtesy = createCourtesy()
  const leave = courtesy.begin()
  const { gone, all } = queueRows(courtesy, 1000)
  const rested = courtesy.rest().then(() => performance.now())
  await nextTurn()
  expect(gone).toEqual([])
  leave()
  const left = performance.now()
  await all
  expect((await rested) - left).toBeLessThan(25)
})

it('they are never kept for long: a turn comes all the same', async () => {
  const courtesy = createCourtesy()
  const leave = courtesy.begin()
  const { gone } = queueRows(courtesy, 64)
  await courtesy.rest()
  await vi.waitFor(() => expect(gone.length).toBe(64))
  leave()
})

it('who waits for very long waits for something else', async () => {
  const courtesy = createCourtesy()
  courtesy.begin()
  await sleep(260)
  const { gone, all } = queueRows(courtesy, 1600)
  const started = performance.now()
  await all
  expect(gone.length).toBe(1600)
  // A hundred turns with a rest before each would take more than a second.
  expect(performance.now() - started).toBeLessThan(1000)
})

it('who left twice has left once', async () => {
  const courtesy = createCourtesy()
  const [first, second] = [courtesy.begin(), courtesy.begin()]
  first()
  first()
  const { gone } = queueRows(courtesy, 1)
  await nextTurn()
  expect(gone).toEqual([])
  second()
  await vi.waitFor(() => expect(gone).toEqual([0]))
})
