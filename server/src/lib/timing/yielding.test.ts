import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { createYielding } from './yielding.ts'

/** Time stands still until a test moves it on; turns of the event loop go on. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
afterEach(() => void vi.useRealTimers())

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
  stopClock()
  const yielding = createYielding()
  const end = yielding.foreground()
  const { gone, all } = queueRows(yielding, 1000)
  let throttled = true
  const released = yielding.throttle().then(() => (throttled = false))
  await vi.advanceTimersByTimeAsync(10)
  await nextTurn()
  expect([gone, throttled]).toEqual([[], true])
  end()
  await Promise.all([all, released])
  expect([gone.length, throttled]).toEqual([1000, false])
})

it('they never pause for long: a turn comes all the same', async () => {
  stopClock()
  const yielding = createYielding()
  const end = yielding.foreground()
  const { gone } = queueRows(yielding, 64)
  const throttled = yielding.throttle()
  await vi.advanceTimersByTimeAsync(100)
  await throttled
  expect(gone.length).toBe(64)
  end()
})

it('foreground work that takes very long does not count any more', async () => {
  stopClock()
  const yielding = createYielding()
  yielding.foreground()
  await vi.advanceTimersByTimeAsync(251)
  const { gone, all } = queueRows(yielding, 1600)
  await all
  expect(gone.length).toBe(1600)
})

it('ending the same work twice ends it once', async () => {
  stopClock()
  const yielding = createYielding()
  const [first, second] = [yielding.foreground(), yielding.foreground()]
  first()
  first()
  const { gone, all } = queueRows(yielding, 1)
  await nextTurn()
  expect(gone).toEqual([])
  second()
  await all
  expect(gone).toEqual([0])
})
