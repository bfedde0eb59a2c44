import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../lib/log.ts'
import { createOverloadGuard, OverloadError } from './overload.ts'

const TARGET_MS = 1000
const log = createLog('silent')
const makeRequests = (count: number) => Array.from({ length: count }, () => ({}))

describe('R10: requests beyond the capacity of the server', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Returns how many of these simultaneous requests are accepted. */
  function flood(guard: ReturnType<typeof createOverloadGuard<object>>, count: number, caller = 'many') {
    const entered = makeRequests(count).filter((request) => {
      try {
        guard.enter(request, caller)
        return true
      } catch (cause) {
        expect(cause).toBeInstanceOf(OverloadError)
        return false
      }
    })
    return entered
  }
  function answer(guard: ReturnType<typeof createOverloadGuard<object>>, requests: object[], ms: number) {
    vi.advanceTimersByTime(ms)
    for (const request of requests) {
      guard.leave(request)
      vi.advanceTimersByTime(60)
    }
  }

  it('are refused with Retry-After beyond the limit, except for callers with few requests', () => {
    const guard = createOverloadGuard<object>(TARGET_MS, log)
    expect(flood(guard, 1000)).toHaveLength(256)
    expect(() => guard.enter({}, 'many')).toThrow(expect.objectContaining({ status: 503 }))
    expect(flood(guard, 10, 'somebody else')).toHaveLength(4)
    expect(new OverloadError().details.retryAfter).toBeGreaterThanOrEqual(1)
  })

  it('are accepted less while answers are late, down to the minimum', () => {
    const guard = createOverloadGuard<object>(TARGET_MS, log)
    const first = flood(guard, 256)
    answer(guard, first.slice(0, 3), 2 * TARGET_MS)
    expect(flood(guard, 1000)).toHaveLength(0)
    answer(guard, first.slice(3), 2 * TARGET_MS)
    const fewer = flood(guard, 1000)
    expect(fewer).toHaveLength(32)
    answer(guard, fewer, 2 * TARGET_MS)
    expect(flood(guard, 1000)).toHaveLength(32)
  })

  it('return to the limit when answers are in time, and callers without requests are forgotten', () => {
    const guard = createOverloadGuard<object>(TARGET_MS, log)
    for (let round = 0; round < 6; round += 1) answer(guard, flood(guard, 1000), 2 * TARGET_MS)
    const low = flood(guard, 1000)
    answer(guard, low, 1)
    for (let n = 0; n < 300; n += 1) answer(guard, flood(guard, 1), 100)
    const high = flood(guard, 1000)
    expect([low.length < 100, high.length]).toEqual([true, 256])
  })

  it('that end twice count once, and those that never began do not count', () => {
    const guard = createOverloadGuard<object>(TARGET_MS, log)
    const entered = flood(guard, 256)
    for (const request of [...entered, ...entered, ...makeRequests(3)]) guard.leave(request)
    expect(flood(guard, 1000)).toHaveLength(256)
  })

  it('are all accepted if the target is 0', () => {
    expect(flood(createOverloadGuard<object>(0, log), 1000)).toHaveLength(1000)
  })
})
