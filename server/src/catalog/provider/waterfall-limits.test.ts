import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Reply } from '../testing/provider-double.ts'
import { adapters, brief, found, nothing, question, run } from '../testing/word-waterfall.ts'
import type { GateAnswer, ProviderGate } from './access.ts'
import { defineAdapter, hit } from './adapter.ts'
import { collectPages } from './pages.ts'
import { defineBuiltIn } from './provider.ts'

describe('limits', () => {
  const gateOf = (...answers: GateAnswer[]) => {
    const slots: (number | undefined)[] = []
    const left: string[] = []
    const gate: ProviderGate = {
      async enter(_bucket, _limits, _waiting, slot) {
        slots.push(slot)
        return answers.shift() ?? { kind: 'entered', leave: (result) => void left.push(result) }
      },
    }
    return { gate, slots, left }
  }

  it('a full gate parks the row, which comes back with its slot', async () => {
    const { gate, slots, left } = gateOf({ kind: 'busy', afterMs: 900, slot: 77 })
    const { pauses, asked } = await run({ one: [found('a')] }, { gate })
    expect([pauses, asked[0], slots, left]).toEqual([[900], 1, [undefined, 77], ['worked']])
  })

  it('a provider with an open breaker is skipped', async () => {
    const { gate, left } = gateOf({ kind: 'broken', afterMs: 5000 })
    const { result, asked } = await run({ one: [found('a')], two: [found('b')] }, { gate })
    expect([brief(result), asked, left]).toEqual([['ONE error 0', 'TWO hit 2'], [0, 1, 0], ['worked']])
  })

  it('the last provider is waited for while no other has answered', async () => {
    const steps = [{ provider: 'one', own_key: false }]
    const short = gateOf({ kind: 'broken', afterMs: 5000 })
    const passed = await run({ one: [found('a')] }, { gate: short.gate, steps })
    expect([passed.pauses, brief(passed.result)]).toEqual([[5000], ['ONE hit 1']])
    const long = gateOf(...Array.from({ length: 4 }, () => ({ kind: 'broken', afterMs: 9 }) as const))
    const stayed = await run({ one: [found('a')] }, { gate: long.gate, steps })
    expect([stayed.pauses, stayed.result]).toEqual([
      [9, 9, 9],
      expect.objectContaining({ failure: expect.any(String) }),
    ])
  })

  it('every call that enters the gate leaves it and reports whether the provider worked', async () => {
    const { gate, left } = gateOf()
    await run({ one: [{ status: 500 }, { status: 422 }], two: [nothing], three: [{ status: 401 }] }, { gate })
    expect(left).toEqual(['broken', 'worked', 'worked', 'worked'])
  })

  it('built-in sources pass no gate: a site that does not answer is not their fault', async () => {
    const { gate, slots } = gateOf()
    const builtIn = defineAdapter(question, defineBuiltIn('built_in', 'Built-in'), {
      price: 1,
      run: async () => ({ kind: 'error', message: 'down', transient: true }),
    })
    const steps = [{ provider: 'built_in', own_key: false }]
    const { pauses } = await run({}, { gate, steps, adapters: [builtIn] })
    expect([slots, pauses.length]).toEqual([[], 3])
  })

  describe('several calls for one answer', () => {
    const Letter = z.object({ letter: z.string(), next: z.string().nullable() })
    const one = adapters[0]
    if (one === undefined) throw new Error('there is no first adapter')
    /** Spells its answer letter by letter, each on its own page. */
    const speller = defineAdapter(question, one.provider, {
      price: 1,
      async run(ask) {
        const pages = await collectPages(
          (cursor: string) =>
            ask({ path: `/${cursor}` }, Letter, ({ letter, next }) => ({ items: [letter], next })),
          { first: 'a', max: 10 },
        )
        if (pages.kind !== 'pages') return pages
        const spelt = hit({ word: pages.items.join('') })
        return pages.note === null ? spelt : { ...spelt, note: pages.note }
      },
    })
    const letter = (word: string, next: string | null): Reply => ({ json: { letter: word, next } })
    const steps = [{ provider: 'one', own_key: false }]
    const spell = (replies: Reply[], gate = gateOf()) =>
      run({ one: replies }, { gate: gate.gate, steps, adapters: [speller] })
    const yes = [letter('y', 'b'), letter('e', 'c'), letter('s', null)]

    it('each passes the gate', async () => {
      const gate = gateOf()
      const { result, asked } = await spell(yes, gate)
      expect(result).toMatchObject({ kind: 'found', value: { word: 'yes' }, credits: 1 })
      expect([asked[0], gate.slots.length, gate.left]).toEqual([3, 3, ['worked', 'worked', 'worked']])
    })

    it('a call that finds the gate full parks the row; the calls before it are not repeated', async () => {
      const entered: GateAnswer = { kind: 'entered', leave: () => undefined }
      const gate = gateOf(entered, { kind: 'busy', afterMs: 900, slot: 77 })
      const { result, asked, pauses } = await spell(yes, gate)
      expect(result).toMatchObject({ kind: 'found', value: { word: 'yes' }, credits: 1 })
      expect([asked[0], pauses, gate.slots]).toEqual([3, [900], [undefined, undefined, 77, undefined]])
    })

    it('a call that fails is retried alone', async () => {
      const [y, ...others] = yes
      const { result, asked, pauses } = await spell([y ?? {}, { status: 503 }, { status: 503 }, ...others])
      expect(result).toMatchObject({ kind: 'found', value: { word: 'yes' } })
      expect([asked[0], pauses.length]).toEqual([5, 2])
    })

    it('a call that fails permanently leaves the answers before it, and a note says so', async () => {
      const { result } = await spell([letter('y', 'b'), { status: 402 }])
      expect(result).toMatchObject({
        kind: 'found',
        value: { word: 'y' },
        provenance: [{ status: 'hit', message: expect.stringMatching(/^only the first 1: .*402/) }],
      })
    })

    it('a breaker that opens in the middle leaves the answers before it', async () => {
      const entered: GateAnswer = { kind: 'entered', leave: () => undefined }
      const { result } = await spell(yes, gateOf(entered, { kind: 'broken', afterMs: 5000 }))
      expect(result).toMatchObject({ kind: 'found', value: { word: 'y' } })
    })
  })
})
