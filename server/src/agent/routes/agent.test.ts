import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { agentSweep } from '#server/agent/sweep.ts'
import { type ChatBody, type ChatReply, serveChat } from '#server/catalog/testing/chat-server.ts'
import { serveSite } from '#server/catalog/testing/site-server.ts'
import { getBalance } from '#server/money/store/credits.ts'
import { makeApp, type TestApp, testConfig } from '#test/plumbing/harness.ts'

const SCHEMA = { properties: { founder: { type: 'string', description: 'Who founded it.' } } }
const FOUND = {
  founder: { value: 'Ada Byron', sources: [{ page: 1, quote: 'founded by Ada Byron' }], reason: null },
}
const ABOUT = '<title>About</title><p>Acme was founded by Ada Byron.</p>'

/** Returns a model that reads the address named in the task, then answers. */
const diligent =
  (answer: object) =>
  (body: ChatBody): ChatReply => {
    const messages = JSON.stringify(body.messages)
    if (messages.includes('You answer from pages')) return { says: JSON.stringify(answer) }
    const url = /http:\/\/127[^\s"\\]+/.exec(messages)?.[0] ?? ''
    return messages.includes('<page number')
      ? { says: 'done' }
      : { calls: [{ name: 'read_page', input: { url } }] }
  }

type Started = { app: TestApp; prompt: string }

async function start(
  think: (body: ChatBody, turn: number) => ChatReply = diligent(FOUND),
  settings: Record<string, string> = {},
): Promise<Started> {
  const site = await serveSite({ '/about': ABOUT })
  const { url } = await serveChat(think)
  const app = await makeApp({
    settings: {
      LOAM_MODEL_BASE_URL: url,
      LOAM_MODELS: 'scripted',
      LOAM_EGRESS_ALLOW: '127.0.0.0/8',
      LOAM_AGENT_PAGE_SECONDS: '0',
      ...settings,
    },
  })
  return { app, prompt: `Who founded Acme? See ${site.origin}/about` }
}

const balanceOf = (app: TestApp, orgId: string) => getBalance(app.store.system, orgId)
const heldBy = async (app: TestApp, orgId: string) => {
  const query = app.store.system.selectFrom('organisations').select('held_millis').where('org_id', '=', orgId)
  return (await query.executeTakeFirstOrThrow()).held_millis
}

/** An app whose model address is closed, for requests that are refused before the model is asked. */
const idle = await makeApp({ settings: { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' } })

describe('part 4.9: POST /agent/run', () => {
  it('answers data keyed by the schema fields, citations and request_id, and costs 5 credits (D51, D64)', async () => {
    const { app, prompt } = await start()
    const org = await app.makeOrg()
    const answer = await org.call('POST', '/agent/run', { prompt, output_schema: SCHEMA })
    expect(answer.body).toEqual({
      status: 200,
      data: { founder: 'Ada Byron' },
      citations: [
        {
          url: expect.stringContaining('/about'),
          title: 'About',
          quote: 'founded by Ada Byron',
          field: 'founder',
        },
      ],
      findings: { founder: { confidence: 0.6, hosts: [expect.any(String)], reason: null } },
      request_id: answer.headers['x-request-id'],
    })
    expect(answer.status).toBe(200)
    expect(await balanceOf(app, org.orgId)).toBe(995_000)
    expect(await heldBy(app, org.orgId)).toBe(0)
  })

  it('holds a single result field when no schema is given', async () => {
    const { app, prompt } = await start(
      diligent({
        result: { value: 'Ada Byron did.', sources: [{ page: 1, quote: 'founded by Ada' }], reason: null },
      }),
    )
    const answer = await (await app.makeOrg()).call('POST', '/agent/run', { prompt })
    expect(answer.body).toMatchObject({ status: 200, data: { result: 'Ada Byron did.' } })
  })

  it('keeps a trace with the answer, which its caller and admins can read, and nobody else', async () => {
    const { app, prompt } = await start()
    const org = await app.makeOrg()
    const member = await org.keyFor('one@example.com', 'member')
    const other = await org.keyFor('other@example.com', 'member')
    const asked = await app.call(member, 'POST', '/agent/run', { prompt, output_schema: SCHEMA })
    const path = `/agent/runs/${asked.body.request_id}`
    for (const key of [member, org.key]) {
      const { body } = await app.call(key, 'GET', path)
      expect(body.data).toMatchObject({
        state: 'answered',
        credits: 5,
        model: 'scripted',
        prompt,
        trace: { steps: expect.arrayContaining([expect.objectContaining({ kind: 'page', cached: false })]) },
        spent: { pages: 1 },
      })
    }
    expect((await app.call(other, 'GET', path)).status).toBe(404)
    expect((await (await app.makeOrg()).call('GET', path)).status).toBe(404)
  })

  it('sends each step as a server-sent event if the client accepts them', async () => {
    const { app, prompt } = await start()
    const org = await app.makeOrg()
    const { body } = await org.call(
      'POST',
      '/agent/run',
      { prompt, output_schema: SCHEMA },
      { accept: 'text/event-stream' },
    )
    const events = String(body)
      .trim()
      .split('\n\n')
      .map((event) => event.split('\n')[0])
    expect(events).toEqual(['event: step', 'event: step', 'event: step', 'event: step', 'event: answer'])
    expect(String(body)).toContain('"data":{"founder":"Ada Byron"}')
    expect(await balanceOf(app, org.orgId)).toBe(995_000)
  })

  it('D14: a stream requested again with its Idempotency-Key returns the same answer, and is charged once', async () => {
    const { app, prompt } = await start()
    const org = await app.makeOrg()
    const headers = { accept: 'text/event-stream', 'idempotency-key': 'one' }
    const call = () => org.call('POST', '/agent/run', { prompt, output_schema: SCHEMA }, headers)
    expect(String((await call()).body)).toContain('event: answer')
    expect((await call()).body).toMatchObject({ status: 200, data: { founder: 'Ada Byron' } })
    expect(await balanceOf(app, org.orgId)).toBe(995_000)
  })

  it('D14: the key of a stream that failed can be used again', async () => {
    const { app, prompt } = await start(() => ({ status: 401, message: 'bad key' }))
    const org = await app.makeOrg()
    const headers = { accept: 'text/event-stream', 'idempotency-key': 'one' }
    for (const _try of [1, 2]) {
      const { body } = await org.call('POST', '/agent/run', { prompt }, headers)
      expect(String(body)).toContain('AGENT_EXECUTION_FAILED')
    }
  })
})

describe('part 7: errors of the web agent', () => {
  it.each<[string, object | string, string, RegExp]>([
    ['no prompt', {}, 'INVALID_REQUEST', /required/],
    ['an empty prompt', { prompt: '' }, 'INVALID_REQUEST', /non-empty/],
    ['a blank prompt', { prompt: '  ' }, 'INVALID_REQUEST', /blank/],
    ['20,001 characters', { prompt: 'a'.repeat(20_001) }, 'INVALID_REQUEST', /at most 20,000 characters/],
    ['a prompt of another type', { prompt: 7 }, 'INVALID_REQUEST', /a string/],
    ['no JSON', '{', 'INVALID_REQUEST', /JSON/],
    ['a schema without properties', { prompt: 'x', output_schema: {} }, 'INVALID_OUTPUT_SCHEMA', /required/],
    [
      'a schema without fields',
      { prompt: 'x', output_schema: { properties: {} } },
      'INVALID_OUTPUT_SCHEMA',
      /one field/,
    ],
    [
      '21 fields',
      {
        prompt: 'x',
        output_schema: {
          properties: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, { type: 'string' }])),
        },
      },
      'INVALID_OUTPUT_SCHEMA',
      /at most 20 fields/,
    ],
    [
      'an unknown type',
      { prompt: 'x', output_schema: { properties: { a: { type: 'date' } } } },
      'INVALID_OUTPUT_SCHEMA',
      /one of: string, number/,
    ],
    ['a negative cap', { prompt: 'x', max_credits: -1 }, 'INVALID_REQUEST', /at least 0/],
  ])('400 for %s', async (_name, body, code, words) => {
    const org = await idle.makeOrg()
    const answer = await org.call('POST', '/agent/run', body)
    expect(answer.body).toMatchObject({
      status: 400,
      error: 'Validation Error',
      code,
      request_id: answer.headers['x-request-id'],
    })
    expect(JSON.stringify(answer.body.errors)).toMatch(words)
  })

  it('takes 20,000 characters and 20 fields', async () => {
    const { app, prompt } = await start()
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, { type: 'string' }]))
    const long = prompt.padEnd(20_000, ' please')
    const { status } = await (
      await app.makeOrg()
    ).call('POST', '/agent/run', { prompt: long, output_schema: { properties: fields } })
    // The scripted model knows only one field: its answer does not match the schema, and nothing is charged.
    expect(status).toBe(500)
  })

  it('401 and 403 name the request too', async () => {
    const org = await idle.makeOrg()
    const nobody = await idle.call(null, 'POST', '/agent/run', { prompt: 'x' })
    expect(nobody.body).toMatchObject({ status: 401, request_id: nobody.headers['x-request-id'] })
    const key = await org.keyFor('narrow@example.com', 'member', { scopes: ['workflows:read'] })
    const narrow = await idle.call(key, 'POST', '/agent/run', { prompt: 'x' })
    expect(narrow.body).toMatchObject({
      status: 403,
      error: 'INSUFFICIENT_SCOPE',
      request_id: narrow.headers['x-request-id'],
    })
  })

  it('402 INSUFFICIENT_CREDITS without enough of them, and MAX_CREDITS_REACHED under the price', async () => {
    const org = await idle.makeOrg()
    await idle.store.system
      .updateTable('organisations')
      .set({ credits_millis: 4999 })
      .where('org_id', '=', org.orgId)
      .execute()
    const poor = await org.call('POST', '/agent/run', { prompt: 'Who?' })
    expect(poor.body).toMatchObject({
      status: 402,
      error: 'INSUFFICIENT_CREDITS',
      request_id: expect.any(String),
    })
    const capped = await (
      await idle.makeOrg()
    ).call('POST', '/agent/run', { prompt: 'Who?', max_credits: 4.999 })
    expect(capped.body).toMatchObject({ status: 402, error: 'MAX_CREDITS_REACHED' })
  })

  it('429 RATE_LIMITED beyond the hourly quota of the organisation, with Retry-After', async () => {
    const { app, prompt } = await start(diligent(FOUND), { LOAM_AGENT_PER_HOUR: '2' })
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    const call = (one = org) => one.call('POST', '/agent/run', { prompt, output_schema: SCHEMA })
    expect([(await call()).status, (await call()).status]).toEqual([200, 200])
    const third = await call()
    expect(third.body).toMatchObject({ status: 429, error: 'RATE_LIMITED', retryAfter: expect.any(Number) })
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(3500)
    expect((await call(other)).status).toBe(200)
  })

  it('503 AGENT_BUSY while too many calls are in progress, not charged', async () => {
    const { app, prompt } = await start(() => ({ says: 'nothing' }), { LOAM_AGENT_CONCURRENCY: '1' })
    const org = await app.makeOrg()
    await app.store.system
      .insertInto('agent_runs')
      .values({
        org_id: org.orgId,
        agent_run_id: '00000000-0000-7000-8000-000000000001',
        request_id: 'r',
        member_id: '00000000-0000-7000-8000-000000000002',
        key_id: null,
        price_millis: 0,
        prompt: 'x',
      })
      .execute()
    const answer = await org.call('POST', '/agent/run', { prompt })
    expect(answer.body).toMatchObject({ status: 503, error: 'AGENT_BUSY', request_id: expect.any(String) })
    expect(answer.headers['retry-after']).toBeDefined()
    expect(await balanceOf(app, org.orgId)).toBe(1_000_000)
  })

  it('504 AGENT_TIMEOUT, not charged', async () => {
    const { url } = await serveSlowModel()
    const app = await makeApp({ settings: { LOAM_MODEL_BASE_URL: url, LOAM_AGENT_TIMEOUT_SECONDS: '1' } })
    const org = await app.makeOrg()
    const answer = await org.call('POST', '/agent/run', { prompt: 'Who?' })
    expect(answer.body).toMatchObject({ status: 504, error: 'AGENT_TIMEOUT', request_id: expect.any(String) })
    expect(await balanceOf(app, org.orgId)).toBe(1_000_000)
    expect(await heldBy(app, org.orgId)).toBe(0)
  })

  it('500 AGENT_EXECUTION_FAILED when the model fails, not charged', async () => {
    const { app, prompt } = await start(() => ({ status: 401, message: 'bad key' }))
    const org = await app.makeOrg()
    const answer = await org.call('POST', '/agent/run', { prompt })
    expect(answer.body).toMatchObject({
      status: 500,
      error: 'AGENT_EXECUTION_FAILED',
      message: expect.stringContaining('refused the key'),
    })
    expect(await balanceOf(app, org.orgId)).toBe(1_000_000)
    expect(await heldBy(app, org.orgId)).toBe(0)
  })

  it('500 AGENT_INTERNAL_ERROR without a model, which says what to set', async () => {
    const app = await makeApp()
    const answer = await (await app.makeOrg()).call('POST', '/agent/run', { prompt: 'Who?' })
    expect(answer.body).toMatchObject({
      status: 500,
      error: 'AGENT_INTERNAL_ERROR',
      message: expect.stringContaining('LOAM_MODEL_BASE_URL'),
    })
  })

  it('the reservation of a run is released when the caller disconnects, and when its process dies', async () => {
    const { url } = await serveSlowModel()
    const app = await makeApp({ settings: { LOAM_MODEL_BASE_URL: url } })
    const org = await app.makeOrg()
    const address = await app.api.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.api.close())
    const left = new AbortController()
    const call = fetch(`${address}/api/v1/agent/run`, {
      method: 'POST',
      signal: left.signal,
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Who?' }),
    })
    while ((await heldBy(app, org.orgId)) === 0) await sleep(20)
    left.abort()
    await expect(call).rejects.toThrow(/abort/)
    while ((await heldBy(app, org.orgId)) > 0) await sleep(20)
    expect(await balanceOf(app, org.orgId)).toBe(1_000_000)

    const config = testConfig({ LOAM_AGENT_TIMEOUT_SECONDS: '1' })
    await app.store.system
      .updateTable('organisations')
      .set({ held_millis: 5000 })
      .where('org_id', '=', org.orgId)
      .execute()
    await app.store.system
      .updateTable('agent_runs')
      .set({ state: 'running', started_at: new Date(Date.now() - 600_000) as never })
      .where('org_id', '=', org.orgId)
      .execute()
    await app.store.query({
      text: `insert into purse_shares (org_id, purse_id, holder, lasting, granted_millis)
        select org_id, org_id, 'agent-' || agent_run_id, true, 5000 from agent_runs where org_id = $1`,
      values: [org.orgId],
    })
    await agentSweep(app.store, config).run({}, new AbortController().signal)
    expect(await heldBy(app, org.orgId)).toBe(0)
  })
})

/** Starts a model that accepts calls and never answers. */
async function serveSlowModel(): Promise<{ url: string }> {
  const { serveHttp } = await import('#test/doubles/loopback-server.ts')
  const { origin } = await serveHttp(() => undefined)
  return { url: `${origin}/v1` }
}
