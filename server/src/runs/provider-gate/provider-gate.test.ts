import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { makeStore } from '#test/plumbing/harness.ts'
import type { CallLimits, ProviderGate } from '../../catalog/provider/access.ts'
import { createLog } from '../../lib/log.ts'
import { createProviderGates } from './provider-gate.ts'

const { store } = await makeStore()
const log = createLog('silent')
/** Two processes over one database, and the gates of one organisation in them. */
const processes = [createProviderGates(store, log), createProviderGates(store, log)] as const
const gates = [processes[0].of('one'), processes[1].of('one')] as const
const { signal } = new AbortController()
let serial = 0
const bucketName = () => `provider ${(serial += 1)}`

const enter = async (gate: ProviderGate, bucket: string, limits: CallLimits, slot?: number) =>
  gate.enter(bucket, limits, { signal }, slot)

async function pass(gate: ProviderGate, bucket: string, result: 'worked' | 'broken' = 'worked') {
  const answer = await enter(gate, bucket, {})
  if (answer.kind === 'entered') answer.leave(result)
  return answer.kind
}

describe('calls at once', () => {
  it('never exceed the limit among all processes, and all get their turn', async () => {
    const bucket = bucketName()
    let underWay = 0
    let most = 0
    const call = async (gate: ProviderGate) => {
      const answer = await enter(gate, bucket, { concurrent: 3 })
      if (answer.kind !== 'entered') throw new Error(`expected to enter, got ${answer.kind}`)
      underWay += 1
      most = Math.max(most, underWay)
      // However slow the database is, the first calls are under way together.
      await vi.waitUntil(() => most >= 3, { timeout: 20_000 })
      await sleep(5)
      underWay -= 1
      answer.leave('worked')
    }
    await Promise.all(Array.from({ length: 40 }, (_, n) => call(n % 2 === 0 ? gates[0] : gates[1])))
    expect([most, underWay]).toEqual([3, 0])
  })

  it('R16: a place goes to the other organisation next, however many rows of the first wait', async () => {
    const bucket = bucketName()
    const limits = { concurrent: 1 }
    const order: string[] = []
    const call = async (org: string) => {
      const answer = await enter(processes[0].of(org), bucket, limits)
      if (answer.kind !== 'entered') return
      order.push(org)
      answer.leave('worked')
    }
    const held = await enter(gates[0], bucket, limits)
    const flood = Array.from({ length: 120 }, () => call('one'))
    const other = call('two')
    if (held.kind === 'entered') held.leave('worked')
    await Promise.all([...flood, other])
    expect(order.indexOf('two')).toBeLessThanOrEqual(1)
    expect(order.length).toBe(101)
  })

  it('R16: a process whose rows never stop asking leaves the other its share', async () => {
    const bucket = bucketName()
    const limits = { concurrent: 2 }
    const over = new AbortController()
    const keepCalling = async () => {
      while (!over.signal.aborted) {
        const answer = await enter(gates[0], bucket, limits)
        await sleep(1)
        if (answer.kind === 'entered') answer.leave('worked')
      }
    }
    const flood = Array.from({ length: 6 }, keepCalling)
    const answer = await enter(processes[1].of('two'), bucket, limits)
    over.abort()
    expect(answer.kind).toBe('entered')
    if (answer.kind === 'entered') answer.leave('worked')
    await Promise.all(flood)
  })

  it('beyond a hundred waiting rows, rows are parked instead', async () => {
    const bucket = bucketName()
    const first = await enter(gates[0], bucket, { concurrent: 1 })
    const answers = Array.from({ length: 110 }, () => enter(gates[0], bucket, { concurrent: 1 }))
    const refused = await Promise.race(answers)
    expect(refused.kind).toBe('busy')
    if (first.kind === 'entered') first.leave('worked')
    const entered = await Promise.all(
      answers.map(async (answer) => {
        const got = await answer
        if (got.kind === 'entered') got.leave('worked')
        return got.kind
      }),
    )
    expect(entered.filter((kind) => kind === 'entered').length).toBe(100)
  })

  it('a row that gives up waiting leaves its place to others', async () => {
    const bucket = bucketName()
    const held = await enter(gates[0], bucket, { concurrent: 1 })
    const leaving = new AbortController()
    const waiting = gates[1].enter(bucket, { concurrent: 1 }, { signal: leaving.signal })
    leaving.abort()
    expect((await waiting).kind).toBe('busy')
    if (held.kind === 'entered') held.leave('worked')
    expect((await enter(gates[0], bucket, { concurrent: 1 })).kind).toBe('entered')
  })
})

describe('calls in a time', () => {
  afterEach(() => vi.useRealTimers())

  it('slots are evenly spaced among all processes; a far one is a place in the queue', async () => {
    const bucket = bucketName()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        enter((n % 2 === 0 ? processes[0] : processes[1]).of(`organisation ${n}`), bucket, { perSecond: 4 }),
      ),
    )
    const later = answers.flatMap((answer) => (answer.kind === 'busy' ? [answer.afterMs] : []))
    // Slots within a second were waited for: slots 0 to 4 at most.
    expect(answers.filter((answer) => answer.kind === 'entered').length).toBeLessThanOrEqual(5)
    const sorted = later.toSorted((a, b) => a - b)
    const gaps = sorted.slice(1).map((ms, n) => ms - (sorted[n] ?? 0))
    for (const gap of gaps) expect(gap).toBeGreaterThan(100)
    const busy = answers.find((answer) => answer.kind === 'busy')
    if (busy?.kind !== 'busy' || busy.slot === undefined) throw new Error('expected a place in the queue')
    // A row that comes back at its time enters without a new slot.
    expect((await enter(gates[0], bucket, { perSecond: 4 }, Date.now())).kind).toBe('entered')
  })

  it('R16: the next slot is soon there for another organisation, however many rows of the first ask', async () => {
    const bucket = bucketName()
    const limits = { perMinute: 120 }
    vi.useFakeTimers({ toFake: ['Date'] })
    const flood = await Promise.all(Array.from({ length: 60 }, () => enter(gates[0], bucket, limits)))
    const parked = flood.flatMap((answer) => (answer.kind === 'busy' ? [answer] : []))
    // Without slots of their own the other rows come back one by one, at the pace of the provider.
    expect(parked.length).toBeGreaterThan(10)
    expect(parked.filter(({ slot }) => slot !== undefined)).toEqual([])
    const plans = parked.map(({ afterMs }) => afterMs).toSorted((a, b) => a - b)
    expect(plans).toEqual(plans.map((_, n) => 500 * (n + 1)))
    const other = await enter(processes[1].of('two'), bucket, limits)
    if (other.kind === 'busy') expect(other.slot).toBeLessThan(Date.now() + 2500)
    else expect(other.kind).toBe('entered')
  })

  it('R4: a slot that was noted by a clock far ahead is due when its row comes back', async () => {
    const bucket = bucketName()
    const limits = { perMinute: 6 }
    expect((await enter(gates[0], bucket, limits)).kind).toBe('entered')
    expect((await enter(gates[0], bucket, limits, Date.now() + 3_600_000)).kind).toBe('entered')
    expect((await enter(gates[0], bucket, limits, Date.now() + 5000)).kind).toBe('busy')
  })

  it('no slot is handed out beyond the horizon, so that stopped rows do not block the provider', async () => {
    const bucket = bucketName()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        enter(processes[0].of(`organisation ${n}`), bucket, { perMinute: 6 }),
      ),
    )
    const placed = answers.filter((answer) => answer.kind === 'busy' && answer.slot !== undefined)
    const unplaced = answers.filter((answer) => answer.kind === 'busy' && answer.slot === undefined)
    // Slots every ten seconds: now, and at 10, 20 and 30.
    expect([placed.length, unplaced.length]).toEqual([3, 4])
  })
})

describe('a provider that fails', () => {
  afterEach(() => vi.useRealTimers())

  /**
   * Moves the clock of the process, and the end of the pause in the database as soon as it is written, beyond the
   * pause.
   */
  async function passPause(bucket: string, ms: number) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
    await expect
      .poll(() =>
        store.query({
          text: `update provider_gates set broken_until = clock_timestamp()
            where bucket = $1 and broken_until > clock_timestamp() returning bucket`,
          values: [bucket],
        }),
      )
      .toHaveLength(1)
  }

  it('gets a pause twice as long each time; calls under way when it began do not lengthen it', async () => {
    const bucket = bucketName()
    const [gate] = gates
    const underWay = await Promise.all(Array.from({ length: 30 }, () => enter(gate, bucket, {})))
    const fail = (calls: typeof underWay) => {
      for (const call of calls) if (call.kind === 'entered') call.leave('broken')
    }
    const pause = async () => {
      const answer = await enter(gate, bucket, {})
      return answer.kind === 'broken' ? Math.round(answer.afterMs / 1000) : answer.kind
    }
    fail(underWay.slice(0, 15))
    expect(await pause()).toBe(5)
    await passPause(bucket, 5100)
    // These calls end after the pause, but began before it.
    fail(underWay.slice(15))
    expect(await pass(gate, bucket, 'broken')).toBe('entered')
    expect(await pause()).toBe(10)
    await passPause(bucket, 10_100)
    expect(await pass(gate, bucket, 'broken')).toBe('entered')
    expect(await pause()).toBe(20)
  })

  it('is not called by rows that waited for their turn when its pause began', async () => {
    const bucket = bucketName()
    const [gate] = gates
    const underWay = await Promise.all(
      Array.from({ length: 5 }, () => enter(gate, bucket, { concurrent: 5 })),
    )
    const waiting = Array.from({ length: 20 }, () => enter(gate, bucket, { concurrent: 5 }))
    for (const call of underWay) if (call.kind === 'entered') call.leave('broken')
    const kinds = (await Promise.all(waiting)).map((answer) => answer.kind)
    expect(kinds).toEqual(Array.from({ length: 20 }, () => 'broken'))
  })

  it('is not called by any process after five failures in a row, and one success resets the count', async () => {
    const bucket = bucketName()
    for (let n = 0; n < 4; n += 1) expect(await pass(gates[0], bucket, 'broken')).toBe('entered')
    await pass(gates[0], bucket, 'worked')
    for (let n = 0; n < 5; n += 1) expect(await pass(gates[0], bucket, 'broken')).toBe('entered')
    expect(await pass(gates[0], bucket)).toBe('broken')
    await expect.poll(async () => pass(gates[1], bucket)).toBe('broken')
  })

  it('is asked again after its pause, and the next call decides', async () => {
    const bucket = bucketName()
    for (let n = 0; n < 5; n += 1) await pass(gates[0], bucket, 'broken')
    const closed = await enter(gates[0], bucket, {})
    expect(closed.kind === 'broken' && closed.afterMs > 3000 && closed.afterMs <= 5000).toBe(true)
    await expect.poll(async () => pass(gates[1], bucket)).toBe('broken')
    await store.query({
      text: `update provider_gates set broken_until = clock_timestamp() where bucket = $1`,
      values: [bucket],
    })
    const fresh = createProviderGates(store, log).of('one')
    expect(await pass(fresh, bucket)).toBe('entered')
  })
})
