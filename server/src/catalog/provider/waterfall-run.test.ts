import { describe, expect, it } from 'vitest'
import type { Reply } from '../testing/provider-double.ts'
import { brief, found, make, nothing, run, type Settings, type Word } from '../testing/word-waterfall.ts'
import type { Waterfall } from './waterfall-run.ts'

describe('D37: stop at the first verified answer; keep an unverified one as the fallback', () => {
  it.each<[string, Record<string, Reply[]>, object, number[], string[]]>([
    [
      'first answer',
      { one: [found('a')], two: [found('b')], three: [found('c')] },
      { kind: 'found', value: { word: 'a' }, verified: true, provider: 'ONE', credits: 1 },
      [1, 0, 0],
      ['ONE hit 1'],
    ],
    [
      'a miss costs what the table says of misses',
      { one: [nothing], two: [nothing], three: [nothing] },
      { kind: 'none', failure: null, credits: 0.1 },
      [1, 1, 1],
      ['ONE miss 0', 'TWO miss 0', 'THREE miss 0.1'],
    ],
    [
      'a later verified one goes before',
      { one: [found('a', false)], two: [nothing], three: [found('c')] },
      { kind: 'found', value: { word: 'c' }, verified: true, provider: 'THREE', credits: 1.3 },
      [1, 1, 1],
      ['ONE unverified 1', 'TWO miss 0', 'THREE hit 0.3'],
    ],
    [
      'the first unverified one where none is verified',
      { one: [nothing], two: [found('b', false)], three: [found('c', false)] },
      { kind: 'found', value: { word: 'b' }, verified: false, provider: 'TWO', credits: 2.3 },
      [1, 1, 1],
      ['ONE miss 0', 'TWO unverified 2', 'THREE unverified 0.3'],
    ],
  ])('%s', async (_what, replies, expected, calls, provenance) => {
    const { result, asked } = await run(replies)
    expect(result).toMatchObject(expected)
    expect([asked, brief(result)]).toEqual([calls, provenance])
  })
})

describe('D66: keys', () => {
  const replies = { one: [found('a')], two: [found('b')], three: [found('c')] }
  it('neither key nor connection: skipped as unconfigured', async () => {
    const { result, asked } = await run(replies, { keys: ['three'] })
    expect([asked, brief(result)]).toEqual([
      [0, 0, 1],
      ['ONE unconfigured 0', 'TWO unconfigured 0', 'THREE hit 0.3'],
    ])
  })

  it('no provider configured: no answer, and no failure', async () => {
    const { result } = await run(replies, { keys: [] })
    expect(result).toMatchObject({ kind: 'none', failure: null, credits: 0 })
  })

  it('an own key costs nothing and reserves nothing', async () => {
    const { result, reserved } = await run({ ...replies, one: [nothing] }, { own: ['one', 'two'], keys: [] })
    expect([brief(result), reserved]).toEqual([['ONE miss 0', 'TWO hit 0'], []])
    // M13: the price that the installation's key would have cost is reported.
    expect(result).toMatchObject({ provenance: [{ credits: 0 }, { list_credits: 2 }] })
  })

  it.each([
    [{ status: 401 }, 'unconfigured'],
    [{ status: 402 }, 'no_credits'],
    [{ status: 418 }, 'error'],
    [{ text: 'cut' }, 'error'],
  ])('%j moves on', async (reply, status) => {
    const { result, asked } = await run({ ...replies, one: [reply] })
    expect([asked, brief(result)]).toEqual([
      [1, 1, 0],
      [`ONE ${status} 0`, 'TWO hit 2'],
    ])
  })

  it('when no provider could answer, the cell fails with their messages', async () => {
    const broken = { one: [{ status: 401 }], two: [{ status: 402 }], three: [{ text: 'cut' }] }
    const { result } = await run(broken)
    expect(result).toMatchObject({
      kind: 'none',
      credits: 0,
      failure: expect.stringMatching(/ONE: .*401.*TWO: .*402.*THREE: /),
    })
    expect((await run({ ...broken, two: [nothing] })).result).toMatchObject({ kind: 'none', failure: null })
  })

  it('a provider that cannot take the question is skipped as ineligible, a removed one as disabled', async () => {
    const steps = ['gone', 'one', 'two'].map((provider) => ({ provider, own_key: false }))
    const { result, asked } = await run(replies, { input: 'not one', steps })
    expect([asked, brief(result)]).toEqual([
      [0, 1, 0],
      ['gone disabled 0', 'ONE ineligible 0', 'TWO hit 2'],
    ])
  })
})

describe('D24: temporary failures are retried without holding a worker', () => {
  const slow: Reply = { status: 429, headers: { 'retry-after': '3' } }
  const later = { two: [found('b')], three: [found('c')] }

  it('the answer of a second try counts; the providers before it are not asked again', async () => {
    const { result, asked, pauses } = await run({ one: [nothing], two: [slow, found('b')], three: [nothing] })
    expect([asked, pauses, brief(result)]).toEqual([[1, 2, 0], [3000], ['ONE miss 0', 'TWO hit 2']])
  })

  it.each<[string, Reply, number, string]>([
    ['slow down', slow, 4, 'rate_limited'],
    ['a server fault', { status: 500 }, 4, 'error'],
    ['slow down for an hour', { status: 429, headers: { 'retry-after': '3600' } }, 1, 'rate_limited'],
    ['a fault that stays', { status: 422 }, 1, 'error'],
  ])('%s: then it moves on', async (_what, reply, calls, status) => {
    const { result, asked } = await run({ one: [reply], ...later })
    expect([asked, brief(result)]).toEqual([
      [calls, 1, 0],
      [`ONE ${status} 0`, 'TWO hit 2'],
    ])
  })

  it('a call that hangs is retried once', async () => {
    const { result, asked } = await run({ one: [{ hang: true }], ...later }, { timeoutMs: 100 })
    expect([asked, brief(result)]).toEqual([
      [2, 1, 0],
      ['ONE error 0', 'TWO hit 2'],
    ])
  })
})

describe('polling', () => {
  const started: Reply = { json: { task: 't' } }
  it('continues at the pending poll', async () => {
    const { result, asked, pauses } = await run({
      one: [nothing],
      two: [started, { json: { working: true } }, found('b')],
    })
    expect([asked, pauses, brief(result)]).toEqual([
      [1, 3, 0],
      [2000, 2000],
      ['ONE miss 0', 'TWO hit 2'],
    ])
  })

  it('that never completes is an error after a while', async () => {
    const { result, asked } = await run({ one: [started, { json: { working: true } }], two: [found('b')] })
    expect(brief(result)).toEqual(['ONE error 0', 'TWO hit 2'])
    expect(asked[0]).toBeGreaterThan(10)
  })
})

it('continues from the state of a pause that was not stored in between', async () => {
  let checks = 0
  const check: NonNullable<Settings['check']> = async ({ value }, _spent, { state }) => {
    checks += 1
    if (state === 'asked') return { kind: 'verified', value, credits: 0, provenance: [] }
    return { kind: 'pause', ms: 10, state: 'asked' }
  }
  const { go, asked } = await make({ one: [nothing], two: [found('b')] }, { check })
  const paused = await go(undefined)
  const later = await go(paused.kind === 'pause' ? paused.state : undefined)
  expect([asked(), checks, brief(later)]).toEqual([[1, 1, 0], 2, ['ONE miss 0', 'TWO hit 2']])
})

it('state of another version means a new start and is never taken for progress', async () => {
  const { go, asked } = await make({ one: [found('a')] })
  for (const state of [{ place: 1 }, { place: 'x', turn: {} }, 7, 'text', null]) {
    expect(await go(state)).toMatchObject({ kind: 'found', value: { word: 'a' } })
  }
  expect(asked()[0]).toBe(5)
})

describe('D22: credits are reserved before the call that costs them', () => {
  it('each time for the whole amount', async () => {
    const { reserved } = await run(
      { one: [found('a', false)], two: [nothing], three: [nothing] },
      { spent: 0.5 },
    )
    expect(reserved).toEqual([1.5, 3.5, 1.8])
  })

  it('too few credits: no provider that must be paid is called', async () => {
    const { result, asked } = await run({ one: [nothing], two: [found('b')] }, { credits: 1.5 })
    expect([result.kind, asked]).toEqual(['out_of_credits', [1, 0, 0]])
  })

  it('an answer that is already paid for is used', async () => {
    const { result } = await run({ one: [found('a', false)], two: [found('b')] }, { credits: 1.5 })
    expect(result).toMatchObject({ kind: 'found', value: { word: 'a' }, verified: false, credits: 1 })
  })
})

it('a second provider checks an answer: rejected counts as a miss, and a check may pause', async () => {
  const states: unknown[] = []
  const check: Waterfall<string, Word>['check'] = async ({ value }, spent, { state }) => {
    states.push(state ?? 'new')
    if (state === undefined) return { kind: 'pause', ms: 10, state: { spent } }
    const kind = value.word === 'a' ? 'rejected' : 'verified'
    return { kind, value, credits: 0.2, provenance: [{ provider: 'C', status: kind, ms: 1, credits: 0.2 }] }
  }
  const { result, asked } = await run({ one: [found('a')], two: [found('b', false)] }, { check })
  expect(result).toMatchObject({ kind: 'found', value: { word: 'b' }, verified: true, credits: 2.4 })
  expect(brief(result)).toEqual(['ONE invalid 0', 'C rejected 0.2', 'TWO hit 2', 'C verified 0.2'])
  expect([asked, states]).toEqual([
    [1, 1, 0],
    ['new', { spent: 1 }, 'new', { spent: 2.2 }],
  ])
})

describe('a waterfall that orders itself', () => {
  const rate = (provider: string, asked: number, found: number, credits: number) => ({
    provider,
    asked,
    found,
    credits,
  })
  const all = { one: [nothing], two: [nothing], three: [nothing] }

  it('first asks the provider whose finds have cost least, and says so', async () => {
    // One costs 1 for each find, two costs 2, and three is cheap but charges for its many misses.
    const rates = [rate('ONE', 100, 10, 10), rate('TWO', 100, 90, 180), rate('THREE', 1000, 10, 102)]
    const { result, asked } = await run(all, { order: 'cheapest_per_find', rates })
    expect(brief(result)).toEqual(['Loam ordered 0', 'ONE miss 0', 'TWO miss 0', 'THREE miss 0.1'])
    expect(result).toMatchObject({
      provenance: [
        {
          message:
            'by credits for each find of the last 30 days: ONE 1 (10 of 100 found), TWO 2 (90 of 100 found), THREE 6.9 (10 of 1000 found)',
        },
        {},
        {},
        {},
      ],
    })
    expect(asked).toEqual([1, 1, 1])
  })

  it('without history uses list prices; the order of a list stays unless cheapest_per_find is set', async () => {
    const ordered = await run(all, { order: 'cheapest_per_find' })
    expect(brief(ordered.result).slice(1)).toEqual(['THREE miss 0.1', 'ONE miss 0', 'TWO miss 0'])
    const listed = await run(all, { rates: [rate('THREE', 100, 100, 0)] })
    expect(brief(listed.result)).toEqual(['ONE miss 0', 'TWO miss 0', 'THREE miss 0.1'])
  })

  it('own keys cost nothing, so the order is by how often a provider finds something', async () => {
    const rates = [rate('ONE', 100, 10, 0), rate('TWO', 100, 90, 0), rate('THREE', 100, 50, 0)]
    const { result } = await run(all, {
      order: 'cheapest_per_find',
      own: ['one', 'two', 'three'],
      rates,
    })
    expect(brief(result).slice(1)).toEqual(['TWO miss 0', 'THREE miss 0', 'ONE miss 0'])
  })

  it('keeps the order after a pause, whatever the history is by then', async () => {
    const rates = [rate('THREE', 100, 100, 10)]
    const { go } = await make(
      { one: [nothing], two: [nothing], three: [{ status: 429, headers: { 'retry-after': '1' } }, nothing] },
      { order: 'cheapest_per_find', rates },
    )
    const paused = await go(undefined)
    expect(paused).toMatchObject({ kind: 'pause', state: { place: 0, order: ['three', 'one', 'two'] } })
    rates.splice(0, 1, rate('TWO', 100, 100, 0))
    const { state } = paused as { state: unknown }
    expect(brief(await go(JSON.parse(JSON.stringify(state))))).toEqual([
      'Loam ordered 0',
      'THREE miss 0.1',
      'ONE miss 0',
      'TWO miss 0',
    ])
  })

  it('D71: the message for a waterfall without a usable provider is the same in this order', async () => {
    const { result } = await run(all, { order: 'cheapest_per_find', keys: [] })
    expect(result).toMatchObject({ kind: 'none', unasked: expect.stringMatching(/none of its providers/) })
  })
})
