import { z } from 'zod'
import { createKey, type ProviderGate } from '../provider/access.ts'
import { defineAdapter, hit, type QuestionKind, MISS } from '../provider/adapter.ts'
import type { ProviderRate } from '../provider/context.ts'
import { defineProvider } from '../provider/provider.ts'
import { type WaterfallResult, runWaterfall, type Waterfall } from '../provider/waterfall-run.ts'
import { type Double, makeAskContext, type Reply, serveDouble } from './provider-double.ts'

export type Word = { word: string }
export const question: QuestionKind<string, Word> = { result: z.object({ word: z.string() }) }
const Body = z.object({ word: z.string().nullable(), sure: z.boolean().default(true) })

/** Three providers with different prices. The last one charges for misses. */
const PRICES = [
  ['one', 1, 0],
  ['two', 2, 0],
  ['three', 0.3, 0.1],
] as const
export const adapters = PRICES.map(([id, price, missPrice]) =>
  defineAdapter(
    question,
    defineProvider({
      id,
      name: id.toUpperCase(),
      evidence: 'this test',
      baseUrl: `https://${id}.example`,
      auth: { kind: 'bearer' },
    }),
    {
      price,
      missPrice,
      accepts: (input) => input !== `not ${id}`,
      run: (ask, _input, { poll }) =>
        typeof poll !== 'string'
          ? ask({ path: '/ask' }, z.union([Body, z.object({ task: z.string() })]), (body) =>
              'task' in body ? { kind: 'pending', afterMs: 2000, poll: body.task } : read(body),
            )
          : ask({ path: `/task/${poll}` }, z.union([Body, z.object({ working: z.literal(true) })]), (body) =>
              'working' in body ? { kind: 'pending', afterMs: 2000, poll } : read(body),
            ),
    },
  ),
)
const read = ({ word, sure }: z.output<typeof Body>) => (word === null ? MISS : hit({ word }, sure))

export const found = (word: string, sure = true): Reply => ({ json: { word, sure } })
export const nothing: Reply = { json: { word: null } }

export type Settings = Partial<Waterfall<string, Word>> & {
  own?: string[]
  keys?: string[]
  gate?: ProviderGate
  credits?: number
  timeoutMs?: number
  rates?: ProviderRate[]
}

/** Creates a waterfall over doubles that count their calls. `go` continues after a pause. */
export async function make(replies: Record<string, Reply[]>, settings: Settings = {}) {
  const doubles: Record<string, Double> = {}
  for (const [id, list] of Object.entries(replies)) {
    const left = [...list]
    doubles[id] = await serveDouble(() => (left.length > 1 ? left.shift() : left[0]) ?? {})
  }
  const urls = Object.fromEntries(Object.entries(doubles).map(([id, { origin }]) => [id, origin]))
  const {
    own = [],
    keys = ['one', 'two', 'three'],
    gate,
    credits = 100,
    timeoutMs,
    rates,
    ...rest
  } = settings
  const reserved: number[] = []
  const context = makeAskContext(urls, {
    keys: {
      platform: (id) => (keys.includes(id) ? createKey('platform', { secret: 'p' }) : null),
      own: async (id) => (own.includes(id) ? createKey('own', { secret: 'o' }) : null),
    },
    reserve: async (amount) => {
      reserved.push(amount)
      return amount <= credits
    },
    ...(gate === undefined ? {} : { gate }),
    ...(rates === undefined ? {} : { rates: async () => rates }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  const steps = PRICES.map(([provider]) => ({ provider, own_key: own.includes(provider) }))
  const go = (state: unknown): Promise<WaterfallResult<Word>> =>
    runWaterfall({ steps, adapters, input: 'q', context, state, ...rest })
  return { go, reserved, asked: () => PRICES.map(([id]) => doubles[id]?.seen.length ?? 0) }
}

/** Continues until there is a result, as the engine does. Waits are only counted. */
export async function run(replies: Record<string, Reply[]>, settings: Settings = {}) {
  const { go, asked, reserved } = await make(replies, settings)
  const pauses: number[] = []
  let state: unknown
  for (;;) {
    const result = await go(state)
    if (result.kind !== 'pause') return { result, asked: asked(), pauses, reserved }
    pauses.push(result.ms)
    state = JSON.parse(JSON.stringify(result.state))
  }
}

export const brief = (result: WaterfallResult<Word>) =>
  result.kind === 'pause'
    ? []
    : result.provenance.map(({ provider, status, credits }) => `${provider} ${status} ${credits}`)
