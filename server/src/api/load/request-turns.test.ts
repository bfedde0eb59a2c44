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
      const waiting = turns.take(request, orgId, 'handler')
      if (waiting === undefined) request.begun = true
      else void waiting.then(() => (request.begun = true))
      return request
    })
  }
  const begun = async (requests: Asked[]) => {
    // Lets the callbacks of granted turns run.
    await Promise.resolve().then(() => undefined)
    return requests.filter((request) => request.begun)
  }
  /** Ends requests at work one after the other, with this time between them. */
  async function answer(turns: ReturnType<typeof open>, requests: Asked[], { from = 0, to = 0, ms = 0 }) {
    for (let n = from; n < to; n += 1) {
      vi.advanceTimersByTime(ms)
      const first = (await begun(requests))[n]
      if (first !== undefined) turns.leave(first)
    }
  }

  it('an organisation without requests at work begins at once, however many others have', async () => {
    const turns = open()
    expect(await begun(ask(turns, 'many', 100))).toHaveLength(8)
    expect(await begun(ask(turns, 'other', 2))).toHaveLength(1)
    expect(await begun(ask(turns, 'third'))).toHaveLength(1)
  })

  it('fewer requests are at work while several organisations ask, and as many as before when one is alone again', async () => {
    const turns = open()
    const flood = ask(turns, 'many', 100)
    const [other] = ask(turns, 'other')
    for (const request of await begun(flood)) turns.leave(request)
    // While the other owner has a request in progress, each has one; afterwards the number grows again.
    expect(await begun(flood)).toHaveLength(8 + 1)
    if (other !== undefined) turns.leave(other)
    expect(await begun(flood)).toHaveLength(8 + 2)
    for (const request of (await begun(flood)).slice(8)) turns.leave(request)
    expect(await begun(flood)).toHaveLength(8 + 2 + 2)
    vi.advanceTimersByTime(2000)
    await answer(turns, flood, { from: 10, to: 50, ms: 1 })
    expect((await begun(flood)).length - 50).toBe(8)
  })

  it('one that takes long does not block the others', async () => {
    const turns = open()
    ask(turns, 'other')
    const flood = ask(turns, 'many', 100)
    expect(await begun(flood)).toHaveLength(1)
    vi.advanceTimersByTime(2000)
    await answer(turns, flood, { from: 0, to: 40, ms: 1 })
    expect((await begun(flood)).length - 40).toBe(7)
  })

  it('fewer slow requests are at work, so that another organisation waits for few', async () => {
    const turns = open()
    const flood = ask(turns, 'many', 100)
    await answer(turns, flood, { from: 0, to: 40, ms: 20 })
    expect((await begun(flood)).length - 40).toBe(2)
    await answer(turns, flood, { from: 40, to: 80, ms: 1 })
    expect((await begun(flood)).length - 80).toBe(8)
  })

  it('organisations take turns at admission too, one request after the other', async () => {
    const turns = open()
    const admitted: string[] = []
    const admit = (orgId: string, count: number) =>
      Array.from({ length: count }, () => {
        const request = { orgId, begun: false }
        const waiting = turns.take(request, orgId, 'admission')
        if (waiting === undefined) admitted.push(orgId)
        else void waiting.then(() => admitted.push(orgId))
        return request
      })
    const flood = admit('many', 100)
    admit('other', 2)
    expect(admitted).toEqual([...Array.from({ length: 8 }, () => 'many'), 'other'])
    for (const request of flood.slice(0, 8)) turns.leave(request)
    await begun(flood)
    expect(admitted.slice(9)).toEqual(['many'])
  })

  it('requests whose callers disconnected while waiting hold no slot, and no slot is released twice', async () => {
    const turns = open()
    const flood = ask(turns, 'many', 20)
    for (const request of flood.slice(8)) turns.leave(request)
    for (const request of [...flood.slice(0, 8), ...flood]) turns.leave(request)
    await begun(flood)
    expect(await begun(ask(turns, 'many', 20))).toHaveLength(8)
  })
})
