import { type Call, callOver, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median } from '../parts/report.ts'
import { type BareCall, openBareCalls } from '../peers/bare-calls.ts'
import { held, type Line, line, rate } from './engine-line.ts'
import { makeLoad, runToTheEnd } from './engine-load.ts'

/** The number of calls in flight, both here and in the bare peer. */
const CONNECTIONS = 256
const CREDITS = 10_000_000

export type CallKind = {
  id: 'P12' | 'P13' | 'P14'
  what: string
  step(outside: string): Step
  bare: BareCall
  /** The share of the bare peer's rate that must be reached. */
  bar: number
}

export const HTTP_CALLS: CallKind = {
  id: 'P12',
  what: 'http_api_call',
  step: (outside) => ({
    action_id: 'http_api_call',
    inputs: { method: 'GET', endpoint: `${outside}/company?name={{input.name}}` },
  }),
  bare: { path: '/company?name=Ada', method: 'GET' },
  bar: 0.6,
}

export const WATERFALLS: CallKind = {
  id: 'P13',
  what: 'person_work_email_waterfall, one provider',
  step: () => ({
    action_id: 'person_work_email_waterfall',
    inputs: {
      full_name: '{{input.name}}',
      company_domain: 'acme.example',
      email_providers: ['Hunter'],
      email_validation: 'None',
    },
  }),
  bare: { path: '/v2/email-finder?domain=acme.example&full_name=Ada', method: 'GET' },
  bar: 0.5,
}

const FIELDS = [
  { name: 'score', type: 'number', description: 'From 0 to 10.' },
  { name: 'reason', type: 'string', description: 'One sentence.' },
]

export const MODEL_CALLS: CallKind = {
  id: 'P14',
  what: 'ai_generate with two fields',
  step: () => ({
    action_id: 'ai_generate',
    inputs: {
      model: 'bench',
      prompt: 'How well does {{input.name}} fit us?',
      output_format: { fields: FIELDS },
    },
  }),
  bare: {
    path: '/v1/chat/completions',
    method: 'POST',
    body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'How well? '.repeat(60) }] }),
  },
  bar: 0.35,
}

/**
 * Measures P12 to P14: cells that call an outside service which responds at once, in turns with the same
 * calls by undici alone.
 */
export async function measureCalls(
  installation: Installation,
  kind: CallKind,
  { cells, rounds }: { cells: number; rounds: number },
): Promise<Line[]> {
  const outside = await startServer({}, [process.execPath, 'bench/parts/outside-server.ts'])
  const { key } = await installation.makeOrg('Calls', CREDITS)
  const server = await installation.startServer({
    LOAM_CONCURRENCY: String(CONNECTIONS),
    LOAM_PROVIDER_KEY_HUNTER: 'bench',
    LOAM_PROVIDER_URL_HUNTER: outside.url,
    LOAM_MODEL_BASE_URL: `${outside.url}/v1`,
  })
  const call = callOver(server.url, key)
  const bare = await openBareCalls(installation.databaseUrl, outside.url, CONNECTIONS)
  const step = kind.step(outside.url)
  try {
    // This compiles all code that is compiled at run time, as in P1.
    await run(call, cells, step)
    await bare.run(cells, kind.bare)
    const rates = await takeTurns(kind.id, rounds, {
      bare: async () => cells / (await bare.run(cells, kind.bare)),
      loam: async () => cells / (await run(call, cells, step)),
    })
    const expected = (rounds + 1) * cells * 2
    const { calls } = (await (await fetch(`${outside.url}/stats`)).json()) as { calls: number }
    if (calls !== expected) throw new Error(`the outside was called ${calls} times in place of ${expected}`)
    const share = shareOf(rates.loam, rates.bare)
    const peer = `bare undici with ${CONNECTIONS} connections and batched upserts, the same calls`
    return [
      line(kind.id, kind.what, rate(median(rates.loam)), {
        'of bare': share.toFixed(2),
        ...held(share, kind.bar, ' of bare'),
      }),
      line(kind.id, peer, rate(median(rates.bare)), { 'of bare': '1.00' }),
    ]
  } finally {
    await bare.close()
    await server.stop()
    await outside.stop()
  }
}

async function run(call: Call, cells: number, step: Step): Promise<number> {
  const base = await makeLoad(call, cells, [step], (n) => `Ada Lovelace ${n}`)
  return runToTheEnd(call, base)
}
