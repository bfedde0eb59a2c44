import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRequestTurns } from './request-turns.ts'

type Asked = { orgId: string; begun: boolean }

describe('R16: requests of organisations take turns', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const open = () => createRequestTurns<Asked>({ alone: 8, shared: 2 })
  function ask(turns: ReturnType<typeof open>, orgId: string, count = 1): Asked[] {
    return Array.from({ length: count }, () => {
      const request = { orgId, begun: false }
      const waiting = turns.take(request, orgId)
      if (waiting === undefined) request.begun = true
      else void waiting.then(() => (request.begun = true))
      return request
    })
  }
  const begun = async (requests: Asked[]) => {
    // Whoever was given a turn has heard of it.
    await Promise.resolve().then(() => undefined)
    return requests.filter((request) => request.begun)
  }

  it('one that has none at work begins at once, beside any number of others', async () => {
    const turns = open()
    expect(await begun(ask(turns, 'many', 100))).toHaveLength(8)
    expect(await begun(ask(turns, 'other', 2))).toHaveLength(1)
    expect(await begun(ask(turns, 'third'))).toHaveLength(1)
  })

  it('while several ask fewer are at work, and as many as before when one is alone again', async () => {
    const turns = open()
    const flood = ask(turns, 'many', 100)
    const [other] = ask(turns, 'other')
    if (other !== undefined) turns.leave(other)
    for (const request of await begun(flood)) turns.leave(request)
    expect(await begun(flood)).toHaveLength(8 + 2)
    vi.advanceTimersByTime(2000)
    for (const request of (await begun(flood)).slice(8)) turns.leave(request)
    expect(await begun(flood)).toHaveLength(8 + 2 + 8)
  })

  it('those whose callers left while they waited hold nothing, and none is given back twice', async () => {
    const turns = open()
    const flood = ask(turns, 'many', 20)
    for (const request of flood.slice(8)) turns.leave(request)
    for (const request of [...flood.slice(0, 8), ...flood]) turns.leave(request)
    await begun(flood)
    expect(await begun(ask(turns, 'many', 20))).toHaveLength(8)
  })
})
