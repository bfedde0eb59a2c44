import { setTimeout as sleep, setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createYielding } from './yielding.ts'

/** Rows that go on one by one, as they are let. */
function queueRows(yielding: ReturnType<typeof createYielding>, count: number) {
  const gone: number[] = []
  const all = Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await yielding.yieldTurn()
      gone.push(n)
    }),
  )
  return { gone, all }
}

it('bulk rows go on in small turns and in their order, and others come to theirs in between', async () => {
  const yielding = createYielding()
  const { gone, all } = queueRows(yielding, 100)
  const seen: number[] = []
  while (gone.length < 100) {
    await nextTurn()
    seen.push(gone.length)
  }
  await all
  expect(gone).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(seen.filter((count, n) => count - (seen[n - 1] ?? 0) > 16)).toEqual([])
})

it('bulk rows pause while foreground work is under way, and go on at once when it ends', async () => {
  const yielding = createYielding()
  const end = yielding.foreground()
  const { gone, all } = queueRows(yielding, 1000)
  const throttled = yielding.throttle().then(() => performance.now())
  await nextTurn()
  expect(gone).toEqual([])
  end()
  const ended = performance.now()
  await all
  expect((await throttled) - ended).toBeLessThan(25)
})

it('they never pause for long: a turn comes all the same', async () => {
  const yielding = createYielding()
  const end = yielding.foreground()
  const { gone } = queueRows(yielding, 64)
  await yielding.throttle()
  await vi.waitFor(() => expect(gone.length).toBe(64))
  end()
})

it('foreground work that takes very long does not count any more', async () => {
  const yielding = createYielding()
  yielding.foreground()
  await sleep(260)
  const { gone, all } = queueRows(yielding, 1600)
  const started = performance.now()
  await all
  expect(gone.length).toBe(1600)
  // A hundred turns with a pause before each would take more than a second.
  expect(performance.now() - started).toBeLessThan(1000)
})

it('ending the same work twice ends it once', async () => {
  const yielding = createYielding()
  const [first, second] = [yielding.foreground(), yielding.foreground()]
  first()
  first()
  const { gone } = queueRows(yielding, 1)
  await nextTurn()
  expect(gone).toEqual([])
  second()
  await vi.waitFor(() => expect(gone).toEqual([0]))
})
