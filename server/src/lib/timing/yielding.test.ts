import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { createYielding } from './yielding.ts'

/** Stops the clock until a test advances it. Turns of the event loop go on. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
afterEach(() => void vi.useRealTimers())

/** Requests turns for this many rows and records each row that got one. */
function queueRows(yielding: ReturnType<typeof createYielding>, count: number) {
  const finished: number[] = []
  const all = Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await yielding.yieldTurn()
      finished.push(n)
    }),
  )
  return { finished, all }
}

it('bulk rows proceed in small turns and in order, and other work runs in between', async () => {
  const yielding = createYielding()
  const { finished, all } = queueRows(yielding, 100)
  const seen: number[] = []
  while (finished.length < 100) {
    await nextTurn()
    seen.push(finished.length)
  }
  await all
  expect(finished).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(seen.filter((count, n) => count - (seen[n - 1] ?? 0) > 16)).toEqual([])
})

it('during foreground work bulk rows proceed in smaller turns, and statements wait until it ends', async () => {
  stopClock()
  const yielding = createYielding()
  await nextTurn()
  // The first turn after a pause is a full one.
  await queueRows(yielding, 1).all
  const end = yielding.foreground()
  const { finished, all } = queueRows(yielding, 40)
  let throttled = true
  const released = yielding.throttle().then(() => (throttled = false))
  const seen: number[] = []
  while (finished.length < 40) {
    await nextTurn()
    seen.push(finished.length)
  }
  await all
  expect(seen.filter((count, n) => count - (seen[n - 1] ?? 0) > 4)).toEqual([])
  expect(throttled).toBe(true)
  end()
  await released
})

it('during reads bulk rows proceed in turns of a quarter of the size', async () => {
  stopClock()
  const yielding = createYielding()
  await nextTurn()
  await queueRows(yielding, 1).all
  const end = yielding.foreground('read')
  const { finished, all } = queueRows(yielding, 40)
  const seen: number[] = []
  while (finished.length < 40) {
    await nextTurn()
    seen.push(finished.length)
  }
  await all
  expect(Math.max(...seen.map((count, n) => count - (seen[n - 1] ?? 0)))).toBe(4)
  end()
})

it('statements wait until no run is in flight, and not for reads', async () => {
  stopClock()
  const yielding = createYielding()
  const [endRead, endRun] = [yielding.foreground('read'), yielding.foreground('run')]
  let throttled = true
  const released = yielding.throttle().then(() => (throttled = false))
  await nextTurn()
  expect(throttled).toBe(true)
  endRun()
  await released
  await yielding.throttle()
  endRead()
})

it('bulk rows that have waited long for their turn get a full one, whatever is in flight', async () => {
  stopClock()
  const yielding = createYielding()
  await queueRows(yielding, 1).all
  const end = yielding.foreground()
  const { finished, all } = queueRows(yielding, 16)
  vi.advanceTimersByTime(6)
  await all
  expect(finished.length).toBe(16)
  end()
})

it('no statement waits longer than 20 ms for a run', async () => {
  stopClock()
  const yielding = createYielding()
  const end = yielding.foreground('run')
  let isOver = false
  const throttled = yielding.throttle().then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(19)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await throttled
  end()
})

it('foreground work that takes very long no longer counts', async () => {
  stopClock()
  const yielding = createYielding()
  yielding.foreground()
  await vi.advanceTimersByTimeAsync(251)
  const { finished, all } = queueRows(yielding, 1600)
  await all
  expect(finished.length).toBe(1600)
})

it('ending the same work twice ends it once', async () => {
  stopClock()
  const yielding = createYielding()
  const [first, second] = [yielding.foreground(), yielding.foreground()]
  first()
  first()
  let throttled = true
  const released = yielding.throttle().then(() => (throttled = false))
  await nextTurn()
  expect(throttled).toBe(true)
  second()
  await released
  expect(throttled).toBe(false)
})
