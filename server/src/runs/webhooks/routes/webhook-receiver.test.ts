import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOff, switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type ApiResponse, type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp({ settings: { LOAM_WEBHOOK_PER_MINUTE: '100000' } })
const org = await app.makeOrg()
const { makeSheet, list } = rowsOf(org)

const keyOf = (base: string, orgId = org.orgId) => ({ org_id: orgId, sheet_id: base.slice(-36) })
const enable = (base: string, rotate = false) =>
  switchWebhookOn(app.store.system, OPERATOR, app.services.sealer, { sheet: keyOf(base), rotate })

async function push(
  token: string,
  body: unknown,
  headers: Record<string, string> = {},
  on = app.api,
): Promise<ApiResponse> {
  const response = await on.inject({
    method: 'POST',
    url: `/hooks/${token}`,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

const inputsOf = async (base: string): Promise<Json[]> =>
  (await list(base, { page_size: 200 })).rows.map((row: Json) => row.inputs)
const deliveriesOf = async (base: string): Promise<Json[]> =>
  (await org.call('GET', `${base}/webhook/deliveries`)).body.data
const hooked = async (columns?: string[]): Promise<{ base: string; token: string }> => {
  const base = await makeSheet(columns)
  return { base, token: await enable(base) }
}

describe('part 6: a JSON POST to webhook_url pushes a row', () => {
  it('whose keys match the input names; other keys are ignored, values are not type-checked', async () => {
    const { base, token } = await hooked()
    const answer = await push(token, {
      Company: 'Acme',
      employees: 12345678901234567890n.toString(),
      domain: { any: ['thing', 1.5] },
      sent_by: 'crm',
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 200, data: { accepted: 1, row_ids: [expect.any(String)], rejected: [] } },
    })
    expect(await inputsOf(base)).toEqual([
      { Company: 'Acme', employees: '12345678901234567890', domain: { any: ['thing', 1.5] } },
    ])
  })

  it.each(['GET', 'PUT', 'DELETE', 'PATCH'] as const)(
    '%s is refused without repeating the token',
    async (method) => {
      const { token } = await hooked()
      for (const url of [`/hooks/${token}`, `/hooks/${token}/more?x=1`, `/x/${token}`, `//hooks/${token}`]) {
        const answer = await app.api.inject({ method, url })
        expect(answer.statusCode).toBe(404)
        expect(answer.body).not.toContain(token)
        if (url === `/hooks/${token}`)
          expect(answer.json().message).toBe(`Webhooks accept only POST, not ${method}`)
      }
    },
  )

  it('a POST to an address behind the token says what is wrong, without the token', async () => {
    const { token } = await hooked()
    const { status, body } = await push(`${token}/more`, { Company: 'Acme' })
    expect([status, body.message]).toEqual([404, expect.stringMatching(/must end with the token/)])
    expect(JSON.stringify(body)).not.toContain(token)
  })

  it('D28: numbers keep every digit, NUL is replaced with a warning; __proto__ is a name like others', async () => {
    const { base, token } = await hooked(['n', '__proto__'])
    const { body } = await push(token, '{"n": 12345678901234567890, "__proto__": "a\\u0000b"}')
    expect(body.warnings).toMatchObject([{ field: 'body.__proto__', code: 'value_normalized' }])
    const [inputs] = await inputsOf(base)
    expect(Object.entries(inputs)).toEqual([
      ['n', '12345678901234567890'],
      ['__proto__', 'a\uFFFDb'],
    ])
  })

  it('an array of objects becomes a row each, in order; items that match nothing are rejected', async () => {
    const { base, token } = await hooked()
    const { status, body } = await push(token, [{ Company: 'A' }, { other: 1 }, 'text', { Company: null }])
    expect([status, body.data]).toEqual([
      200,
      {
        accepted: 2,
        row_ids: [expect.any(String), expect.any(String)],
        rejected: [
          {
            row: { other: 1 },
            index: 1,
            errors: [expect.objectContaining({ code: 'no_matching_field', field: '_row' })],
          },
          {
            row: 'text',
            index: 2,
            errors: [expect.objectContaining({ code: 'malformed_row', field: '_row' })],
          },
        ],
      },
    ])
    expect((await inputsOf(base)).map((inputs) => inputs.Company)).toEqual(['A', null])
    expect((await list(base)).rows.map((row: Json) => row.row_id)).toEqual(body.data.row_ids)
  })

  it.each(['application/json; charset=utf-8', 'application/cloudevents+json', 'text/plain', 'json', ''])(
    'as content type %j',
    async (type) => {
      const { base, token } = await hooked()
      expect((await push(token, { Company: 'A' }, { 'content-type': type })).status).toBe(200)
      expect(await inputsOf(base)).toHaveLength(1)
    },
  )

  const wrong = (message: string, field = 'body') => [{ field, message: expect.stringContaining(message) }]
  it.each<[string, unknown, unknown]>([
    ['no matching key', { company: 'wrong case' }, wrong('the inputs are: Company, domain, employees')],
    ['no key at all', {}, wrong('none of its keys')],
    [
      'an array in which nothing matches',
      [{ x: 1 }, 5],
      [...wrong('none', 'body[0]'), ...wrong('must be an object', 'body[1]')],
    ],
    ['an empty array', [], wrong('non-empty')],
    ['too many items', Array.from({ length: 1001 }, () => ({ Company: 'A' })), wrong('at most 1,000 items')],
    ['a text', '"Acme"', wrong('must be an object keyed by input name, or an array')],
    ['a number', '5', wrong('must be an object')],
    ['null', 'null', wrong('must be an object')],
    ['no JSON', '{"Company":', wrong('must be valid JSON')],
    ['nothing', undefined, wrong('required')],
    ['deep nesting', `{"Company":${'['.repeat(100)}${']'.repeat(100)}}`, wrong('nested')],
  ])('400 in the envelope for %s, and no row', async (_what, body, errors) => {
    const { base, token } = await hooked()
    const answer = await push(token, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        status: 400,
        error: 'Validation Error',
        message: `${(errors as unknown[]).length} validation errors`,
        errors,
      },
    ])
    expect(await inputsOf(base)).toEqual([])
    expect(await deliveriesOf(base)).toMatchObject([{ status: 400, accepted: 0, reason: expect.any(String) }])
  })

  it('D6: 413 for a body over the limit', async () => {
    const { base, token } = await hooked()
    const { status, body } = await push(token, `{"Company":"${'x'.repeat(33 << 20)}"}`)
    expect([status, body.error]).toEqual([413, 'Payload Too Large'])
    expect(await deliveriesOf(base)).toMatchObject([{ status: 413, body: '' }])
  })
})

describe('the address', () => {
  const urlIn = async (of: TestOrg, base: string) => {
    const { sheets } = (await of.call('GET', base.replace(/\/sheets.*/, ''))).body.data
    return sheets[0].webhook_url
  }

  it('webhook_url is in the overview once it is enabled; enabling again keeps it, rotating does not', async () => {
    const base = await makeSheet()
    expect(await urlIn(org, base)).toBeNull()
    const token = await enable(base)
    expect(await urlIn(org, base)).toBe(`http://loam.test/hooks/${token}`)
    expect(await enable(base)).toBe(token)
    const next = await enable(base, true)
    expect(await urlIn(org, base)).toBe(`http://loam.test/hooks/${next}`)
    expect((await push(token, { Company: 'A' })).status).toBe(404)
    expect((await push(next, { Company: 'A' })).status).toBe(200)
  })

  it('disabled it is 404 and null, enabled again it is the same', async () => {
    const { base, token } = await hooked()
    await switchWebhookOff(app.store.system, OPERATOR, keyOf(base))
    expect([(await push(token, { Company: 'A' })).status, await urlIn(org, base)]).toEqual([404, null])
    expect(await enable(base)).toBe(token)
    expect((await push(token, { Company: 'A' })).status).toBe(200)
  })

  it.each(['x', 'A'.repeat(40), '%20', 'a'.repeat(500)])(
    '404 in the envelope for the token %s',
    async (token) => {
      const answer = await push(token, { Company: 'A' })
      expect([answer.status, answer.body]).toEqual([
        404,
        { status: 404, error: 'Not Found', message: 'Webhook not found' },
      ])
    },
  )

  it('404 when the sheet is deleted', async () => {
    const { base, token } = await hooked()
    await org.call('DELETE', base.replace(/\/sheets.*/, ''))
    expect((await push(token, { Company: 'A' })).status).toBe(404)
  })

  it('D46: a duplicate has an address of its own', async () => {
    const { base, token } = await hooked()
    const workflow = base.replace(/\/sheets.*/, '')
    const { body } = await org.call('POST', `${workflow}/duplicate`, { name: 'Copy' })
    const url: string = (await org.call('GET', `/workflows/${body.data.workflow_id}`)).body.data.sheets[0]
      .webhook_url
    expect(url).toMatch(/^http:\/\/loam\.test\/hooks\/\w{40}$/)
    expect(url).not.toContain(token)
    expect((await push(url.split('/').at(-1) ?? '', { Company: 'A' })).status).toBe(200)
    expect(await inputsOf(base)).toEqual([])
  })
})

describe('deduplication by webhook-id', () => {
  it.each(['webhook-id', 'svix-id', 'idempotency-key'])(
    'a repeated %s answers the same success, without a row',
    async (header) => {
      const { base, token } = await hooked()
      const send = (body: unknown) => push(token, body, { [header]: 'msg_1' })
      const first = await send([{ Company: 'A' }, { none: 1 }])
      const again = await send([{ Company: 'A' }, { none: 1 }])
      expect(again.body).toEqual(first.body)
      expect([first, again].map((answer) => answer.headers['idempotency-replayed'])).toEqual([
        undefined,
        'true',
      ])
      expect((await send({ Company: 'B' })).body).toEqual(first.body)
      expect(await inputsOf(base)).toHaveLength(1)
      expect(await deliveriesOf(base)).toMatchObject([
        { accepted: 0, reason: expect.stringContaining('repeated') },
        { accepted: 0 },
        { accepted: 1, rejected: 1, webhook_id: 'msg_1', reason: expect.stringContaining('body[1]') },
      ])
    },
  )

  it('D38: the answer contains rejected items as they were sent, also for a repeated id', async () => {
    const { token } = await hooked()
    const item = '{"id":12345678901234567890}'
    const send = (unstorable: string) =>
      app.api.inject({
        method: 'POST',
        url: `/hooks/${token}`,
        headers: { 'webhook-id': 'msg_1' },
        payload: `[{"Company":"A"},${item},"${unstorable}",1e99999]`,
      })
    const first = await send('\\u0000')
    expect(first.payload).toContain(`{"row":${item},"index":1`)
    expect(first.payload).toContain('{"row":"\\u0000","index":2')
    expect((await send('')).payload).toContain(item)
  })

  it('a refused delivery has not used its id; another sheet has ids of its own; without an id nothing is dropped', async () => {
    const [one, two] = [await hooked(), await hooked()]
    const id = { 'webhook-id': 'msg_1' }
    expect((await push(one.token, { x: 1 }, id)).status).toBe(400)
    expect((await push(one.token, { Company: 'A' }, id)).status).toBe(200)
    expect((await push(two.token, { Company: 'A' }, id)).status).toBe(200)
    for (const _ of [1, 2]) await push(two.token, { Company: 'A' })
    expect([(await inputsOf(one.base)).length, (await inputsOf(two.base)).length]).toEqual([1, 3])
  })

  it('R11, small: each of 300 webhooks three times, shuffled and at once, over two processes: 300 rows', async () => {
    const { base, token } = await hooked()
    const other = await makeSecondApi()
    const sends = Array.from({ length: 900 }, (_, n) => ({ id: n % 300, by: n % 2 === 0 ? app.api : other }))
    for (let n = sends.length - 1; n > 0; n -= 1) {
      const m = (n * 7919) % (n + 1)
      ;[sends[n], sends[m]] = [sends[m]!, sends[n]!]
    }
    const answers = await Promise.all(
      sends.map(({ id, by }) => push(token, { Company: `c${id}` }, { 'webhook-id': `msg_${id}` }, by)),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(600)
    const { total_count } = await list(base)
    expect(total_count).toBe(300)
    const ids = new Map(sends.map(({ id }, n) => [id, answers[n]?.body.data.row_ids[0]]))
    for (const [n, { id }] of sends.entries()) expect(answers[n]?.body.data.row_ids).toEqual([ids.get(id)])
    expect(new Set(ids.values()).size).toBe(300)
  })
})

async function makeSecondApi() {
  const { createApp } = await import('../../../api/app.ts')
  return createApp(app.services)
}

describe('limits by token', () => {
  it('429 with Retry-After and the rate headers, exact over two processes; other webhooks are not touched', async () => {
    const limited = await makeApp({ settings: { LOAM_WEBHOOK_PER_MINUTE: '5' } })
    const theirs = await limited.makeOrg()
    const { createApp } = await import('../../../api/app.ts')
    const second = await createApp(limited.services)
    const [base, calm] = [await rowsOf(theirs).makeSheet(), await rowsOf(theirs).makeSheet()]
    const tokens = await Promise.all(
      [base, calm].map((path) =>
        switchWebhookOn(limited.store.system, OPERATOR, limited.services.sealer, {
          sheet: keyOf(path, theirs.orgId),
        }),
      ),
    )
    const [token = '', quiet = ''] = tokens
    const apis = [limited.api, second]
    // A minute may end in between; then the next one is full.
    const answers: ApiResponse[] = []
    for (let round = 0; round < 2 && !answers.some(({ status }) => status === 429); round += 1) {
      answers.splice(0)
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 12 }, (_, n) => push(token, { Company: 'A' }, {}, apis[n % 2])),
        )),
      )
    }
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken).toHaveLength(5)
    const remaining = taken.map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    expect(new Set(remaining)).toEqual(new Set([0, 1, 2, 3, 4]))
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toEqual({
      status: 429,
      error: 'Too Many Requests',
      message: expect.stringContaining('5 requests per minute'),
      retryAfter: expect.any(Number),
    })
    expect(refused?.headers).toMatchObject({
      'retry-after': String(refused?.body.retryAfter),
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
    })
    expect((await push(quiet, { Company: 'A' }, {}, limited.api)).status).toBe(200)
  })
})

describe('the last deliveries are kept for inspection', () => {
  it('50 of them, newest first, with time, status, counts, reason and the beginning of the body', async () => {
    const { base, token } = await hooked()
    for (let n = 0; n < 60; n += 1) await push(token, { Company: `c${n}` }, { 'webhook-id': `m${n}` })
    await push(token, `{"x": "${'y'.repeat(2000)}"}`)
    const deliveries = await deliveriesOf(base)
    expect(deliveries).toHaveLength(50)
    expect(deliveries[0]).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      status: 400,
      webhook_id: null,
      accepted: 0,
      rejected: 1,
      reason: expect.stringContaining('none of its keys'),
      body: expect.stringMatching(/^\{"x": "y{993}$/),
    })
    expect(deliveries.slice(1).map((delivery) => delivery.webhook_id)).toEqual(
      Array.from({ length: 49 }, (_, n) => `m${59 - n}`),
    )
    const { rows } = await app.store.system
      .selectFrom('webhook_deliveries')
      .select((eb) => eb.fn.countAll<number>().as('rows'))
      .where('sheet_id', '=', keyOf(base).sheet_id)
      .executeTakeFirstOrThrow()
    expect(rows).toBe(50)
  })

  it('a bad delivery does not fail the others of its batch', async () => {
    const { base, token } = await hooked()
    const bodies = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? '\0 broken' : { Company: `c${n}` }))
    const answers = await Promise.all(bodies.map((body) => push(token, body)))
    expect(answers.map(({ status }) => status)).toEqual(
      bodies.map((body) => (typeof body === 'string' ? 400 : 200)),
    )
    expect(await inputsOf(base)).toHaveLength(40)
  })
})
