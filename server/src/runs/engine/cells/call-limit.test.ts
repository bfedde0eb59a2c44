import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CallLimit } from './call-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function startLimit(ms: number): { limit: CallLimit; ended: () => boolean } {
  const limit = new CallLimit()
  const onLimit = vi.fn<() => void>()
  limit.start(ms, { onLimit })
  return { limit, ended: () => onLimit.mock.calls.length > 0 }
}

it('a limit ends after its time', () => {
  const { ended } = startLimit(1000)
  vi.advanceTimersByTime(999)
  expect(ended()).toBe(false)
  vi.advanceTimersByTime(1)
  expect(ended()).toBe(true)
})

it('waiting is no execution time: the limit stands still until the last wait is over', async () => {
  const { limit, ended } = startLimit(1000)
  const waits = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  vi.advanceTimersByTime(400)
  const held = waits.map(({ promise }) => limit.hold(promise))
  vi.advanceTimersByTime(60_000)
  waits[0]?.resolve('one')
  expect(await held[0]).toBe('one')
  vi.advanceTimersByTime(60_000)
  waits[1]?.resolve('other')
  await held[1]
  vi.advanceTimersByTime(599)
  expect(ended()).toBe(false)
  vi.advanceTimersByTime(1)
  expect(ended()).toBe(true)
})

it('a wait that began before the limit was started, or that fails, counts no more than others', async () => {
  const limit = new CallLimit()
  const wait = Promise.withResolvers<void>()
  const held = limit.hold(wait.promise)
  const onLimit = vi.fn<() => void>()
  limit.start(1000, { onLimit })
  vi.advanceTimersByTime(5000)
  expect(onLimit).not.toHaveBeenCalled()
  wait.reject(new Error('no'))
  await expect(held).rejects.toThrow('no')
  vi.advanceTimersByTime(1000)
  expect(onLimit).toHaveBeenCalled()
})

it('a stopped limit never ends, even if a wait ends later', async () => {
  const { limit, ended } = startLimit(1000)
  const wait = Promise.withResolvers<void>()
  const held = limit.hold(wait.promise)
  limit.stop()
  wait.resolve()
  await held
  vi.advanceTimersByTime(5000)
  expect(ended()).toBe(false)
})

it.each([
  ['a signal', (limit: CallLimit) => limit.signal],
  ['itself', (limit: CallLimit) => limit],
])('a listener to %s is called once at the end, unless it was removed', (_what, callOffOf) => {
  const limit = new CallLimit()
  const callOff = callOffOf(limit)
  const listeners = Array.from({ length: 4 }, () => ({ handleEvent: vi.fn<() => void>() }))
  for (const listener of listeners) callOff.addEventListener('abort', listener)
  for (const left of [listeners[0], listeners[2]]) if (left) callOff.removeEventListener('abort', left)
  expect(callOff.aborted).toBe(false)
  limit.abort()
  limit.abort()
  expect(callOff.aborted).toBe(true)
  expect(listeners.map(({ handleEvent }) => handleEvent.mock.calls.length)).toEqual([0, 1, 0, 1])
})
