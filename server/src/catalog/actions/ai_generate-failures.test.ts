import { describe, expect, it } from 'vitest'
import { failedWith, FIELDS, KEY, PROMPT, row, useModel } from '../testing/ask-model.ts'
import { type ModelReply, serveOpenAi } from '../testing/model-server.ts'
import type { Settings } from '../testing/run-action.ts'

const { ask, askAt, runAction } = useModel()

describe('failures', () => {
  const error = (message: string) => JSON.stringify({ error: { message } })
  const now = new Date('2026-01-01T00:00:00Z')

  it.each<[string, ModelReply, object]>([
    [
      '429 with Retry-After',
      { status: 429, headers: { 'retry-after': '7' }, body: error('slow down') },
      { kind: 'retry', afterMs: 7000 },
    ],
    [
      '429 with the reset of the limit that is used up',
      {
        status: 429,
        headers: {
          'x-ratelimit-remaining-requests': '9',
          'x-ratelimit-reset-requests': '1h',
          'x-ratelimit-remaining-tokens': '0',
          'x-ratelimit-reset-tokens': '1m2.5s',
        },
        body: error('slow down'),
      },
      { kind: 'retry', afterMs: 62_500 },
    ],
    [
      '429 without a word of when',
      { status: 429, body: error('slow down') },
      { kind: 'retry', message: 'the model server answered HTTP 429: slow down' },
    ],
    [
      '429 because nothing is left to spend',
      { status: 429, body: '{"error":{"message":"no quota","code":"insufficient_quota"}}' },
      failedWith(/no quota/),
    ],
    [
      '500',
      { status: 500, body: 'oops' },
      { kind: 'retry', message: 'the model server answered HTTP 500: oops' },
    ],
    [
      '401',
      { status: 401, body: error(`Incorrect API key provided: ${KEY}`) },
      failedWith(/refused the key for small \(HTTP 401\); check LOAM_MODEL_API_KEY/),
    ],
    [
      '400',
      { status: 400, body: error(`the context is too long for ${KEY}`) },
      failedWith(/HTTP 400: the context is too long for \[redacted\]/),
    ],
    [
      '404',
      { status: 404, body: error('model small not found') },
      failedWith(/HTTP 404: model small not found/),
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
      failedWith(/HTTP 302/),
    ],
    ['an answer that is no JSON', { status: 200, body: '<html>' }, failedWith(/cannot be read/)],
    [
      'an answer without choices',
      { status: 200, body: '{"id":"x","choices":[]}' },
      failedWith(/cannot be read/),
    ],
    ['an answer far too large', { status: 200, body: 'x'.repeat(5_000_000) }, failedWith(/larger than/)],
    ['cut by length', { says: 'Once upon', finish: 'length' }, failedWith(/cut off.*Once upon/)],
    ['stopped by a filter', { says: '', finish: 'content_filter' }, failedWith(/declined/)],
    ['an empty answer', { says: ' ' }, failedWith(/empty answer/)],
    [
      'no answer in time',
      'nothing',
      { kind: 'retry', message: expect.stringMatching(/no complete answer within 1000 ms/) },
    ],
  ])('%s', async (_name, reply, expected) => {
    const models = { LOAM_MODEL_TIMEOUT_SECONDS: '1' }
    const { outcome, calls } = await ask([reply], {}, { models, now })
    expect(outcome).toMatchObject(expected)
    expect(JSON.stringify(outcome)).not.toContain(KEY)
    expect(calls).toHaveLength(1)
  })

  it("the model's text is shown without the values of environment variables", async () => {
    const inputs = { prompt: 'Use {{env.TOKEN}}', output_format: FIELDS }
    const { outcome } = await ask([{ says: 'The token is t-0-k-e-n.' }], inputs, {
      row: { env: { TOKEN: 't-0-k-e-n' } },
    })
    expect(outcome).toMatchObject(failedWith(/The model said: The token is \[redacted\]\./))
  })

  it('an unreachable server', async () => {
    const { outcome } = await askAt({ origin: 'http://127.0.0.1:1', calls: [] })
    expect(outcome).toMatchObject({ kind: 'retry', message: expect.stringMatching(/127\.0\.0\.1:1/) })
  })

  it('a full gate parks the row with its slot, and the slot comes back', async () => {
    const asked: unknown[] = []
    const gate: Settings['gate'] = {
      async enter(bucket, limits, _waiting, slot) {
        asked.push([bucket, limits, slot])
        return { kind: 'busy', afterMs: 5, slot: 99 }
      },
    }
    const settings = { gate, state: { slot: 42 }, models: { LOAM_MODEL_CONCURRENCY: '3' } }
    const { outcome, calls } = await ask([{ says: 'x' }], {}, settings)
    expect(outcome).toEqual({ kind: 'wait', ms: 5, state: { slot: 99 } })
    expect(asked).toEqual([['model:platform:small', { concurrent: 3 }, 42]])
    expect(calls).toEqual([])
  })
})

describe('a model that cannot be asked is an error that says what to do', () => {
  const base = { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:9/v1' }
  it.each<[string, object, Record<string, string>, RegExp]>([
    ['nothing is set up', {}, {}, /set LOAM_MODEL_BASE_URL/],
    [
      'no key of Anthropic',
      { model: 'anthropic/claude-x' },
      {},
      /set LOAM_ANTHROPIC_API_KEY, or add a connection to anthropic/,
    ],
    [
      'not offered',
      {},
      { ...base, LOAM_MODELS: 'large, huge' },
      /"small" is not offered here; choose one of: large, huge/,
    ],
    ['no such connection', { connection: 'mine' }, base, /no connection "mine" to openai/],
  ])('%s', async (_name, inputs, models, message) => {
    const outcome = await runAction('ai_generate', { ...PROMPT, ...inputs }, { row, models })
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
  })

  it("a connection's own address is a user's address: private ones are refused", async () => {
    const server = await serveOpenAi([{ says: 'x' }])
    const at = (base_url: string) => ({
      id: 'c1',
      fields: { secret: 's', base_url },
      token: async () => ({ ok: true as const, token: '' }),
    })
    const port = new URL(server.origin).port
    // The egress of the tests may reach 127.0.0.0/8 but not ::1.
    const keys = { platform: () => null, own: async () => at(`http://[::1]:${port}/v1`) }
    const models = { LOAM_MODEL_BASE_URL: `http://[::1]:${port}/v1` }
    const outcome = await runAction('ai_generate', { ...PROMPT, connection: 'mine' }, { row, models, keys })
    expect(outcome).toMatchObject(failedWith(/refused, because this is a loopback address/))
    expect(server.calls).toEqual([])
  })
})
