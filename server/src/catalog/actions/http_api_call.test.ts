import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { type Settings, useActions } from '../testing/run-action.ts'

const runAction = useActions()

const call = (inputs: Record<string, unknown>, settings?: Settings) =>
  runAction('http_api_call', { method: 'GET', ...inputs }, settings)

type Reply = { status?: number; type?: string; body?: string | Uint8Array; headers?: Record<string, string> }

async function serve({
  status = 200,
  type = 'application/json',
  body = '',
  headers = {},
}: Reply): Promise<string> {
  const { origin } = await serveHttp((_request, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).end(body)
  })
  return origin
}

/** Starts a server that stores the one request it gets. */
async function record() {
  const seen: {
    method?: string | undefined
    url?: string | undefined
    headers: IncomingMessage['headers']
    body: string
  }[] = []
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: await text(request),
    })
    response.end('{}')
  }
  const { origin } = await serveHttp((request, response) => void listener(request, response))
  return { origin, seen }
}

describe('http_api_call gives one output per top-level key of the reply, and status_code', () => {
  it.each<[string, Reply, Record<string, unknown>]>([
    [
      'an object',
      { body: '{"name":"Ann","tags":["a"],"age":null}' },
      { name: 'Ann', tags: ['a'], age: null },
    ],
    [
      'keys that are no names',
      { body: '{"First Name":1,"firstName":2,"a.b":3}' },
      { first_name: 1, first_name_2: 2, a_b: 3 },
    ],
    ['a key named status_code', { body: '{"status_code":"x"}' }, { status_code_2: 'x' }],
    ['keys of Object', { body: '{"__proto__":1,"constructor":2}' }, { proto: 1, constructor: 2 }],
    ['columns that no token can say', { body: '{"l":[{"a{":1,"B c":2}]}' }, { l: [{ a: 1, 'B c': 2 }] }],
    ['a list', { body: '[{"a":1},2]' }, { items: [{ a: 1 }, 2] }],
    ['a number', { body: '42' }, { response: 42 }],
    ['null', { body: 'null' }, { response: null }],
    ['plain text', { type: 'text/plain', body: 'hello' }, { response: 'hello' }],
    ['a number that is not called JSON', { type: 'text/plain', body: '42' }, { response: '42' }],
    ['JSON that is called plain text', { type: 'text/plain', body: ' {"a":1}' }, { a: 1 }],
    ['a vendor type of JSON', { type: 'application/vnd.api+json', body: '"x"' }, { response: 'x' }],
    ['HTML', { type: 'text/html', body: '<p>{"a":1}</p>' }, { response: '<p>{"a":1}</p>' }],
    ['bad JSON', { body: '{"a":' }, { response: '{"a":' }],
    [
      'JSON nested too deep',
      { body: '['.repeat(500) + ']'.repeat(500) },
      { response: '['.repeat(500) + ']'.repeat(500) },
    ],
    ['no body', {}, {}],
    ['blanks', { body: ' \n' }, {}],
    [
      'bytes that are not UTF-8',
      { type: 'text/plain', body: Uint8Array.of(65, 255) },
      { response: 'A\uFFFD' },
    ],
    ['201', { status: 201, body: '{"a":1}' }, { a: 1, status_code: 201 }],
    ['204', { status: 204 }, { status_code: 204 }],
    ['304', { status: 304 }, { status_code: 304 }],
  ])('%s', async (_what, reply, outputs) => {
    const outcome = await call({ endpoint: await serve(reply) })
    expect(outcome).toEqual({ kind: 'done', outputs: { status_code: 200, ...outputs } })
  })

  it('long numbers keep their digits', async () => {
    const outcome = await call({ endpoint: await serve({ body: '{"id":12345678901234567890}' }) })
    expect(JSON.stringify(outcome)).toContain('"id":12345678901234567890')
    const alone = await call({ endpoint: await serve({ body: '12345678901234567890' }) })
    expect(JSON.stringify(alone)).toContain('"response":12345678901234567890')
  })

  it('a redirect is followed', async () => {
    const target = await serve({ body: '{"there":true}' })
    const outcome = await call({ endpoint: await serve({ status: 302, headers: { location: target } }) })
    expect(outcome).toEqual({ kind: 'done', outputs: { status_code: 200, there: true } })
  })
})

describe('http_api_call: a 4xx is final, with status and excerpt; 429, 5xx and network faults may pass (D24, D65)', () => {
  const now = new Date('2026-01-01T00:00:00Z')

  it.each<[string, Reply, object]>([
    [
      '400 with a body',
      { status: 400, body: '{"error":\n "bad"}' },
      { kind: 'failed', message: 'HTTP 400: {"error": "bad"}' },
    ],
    ['404 without a body', { status: 404 }, { kind: 'failed', message: 'HTTP 404' }],
    [
      'a long body',
      { status: 422, body: 'x'.repeat(9999) },
      { kind: 'failed', message: `HTTP 422: ${'x'.repeat(500)}` },
    ],
    ['429', { status: 429, body: 'slow' }, { kind: 'retry', message: 'HTTP 429: slow' }],
    [
      '429 with seconds',
      { status: 429, headers: { 'retry-after': '120' } },
      { kind: 'retry', message: 'HTTP 429', afterMs: 120_000 },
    ],
    [
      '429 with a date',
      { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' } },
      { kind: 'retry', message: 'HTTP 429', afterMs: 30_000 },
    ],
    [
      '429 with a date that has passed',
      { status: 429, headers: { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' } },
      { kind: 'retry', message: 'HTTP 429', afterMs: 0 },
    ],
    [
      '429 with nonsense',
      { status: 429, headers: { 'retry-after': 'soon' } },
      { kind: 'retry', message: 'HTTP 429' },
    ],
    ['500', { status: 500, body: 'oops' }, { kind: 'retry', message: 'HTTP 500: oops' }],
    [
      '503 with seconds',
      { status: 503, headers: { 'retry-after': '5' } },
      { kind: 'retry', message: 'HTTP 503', afterMs: 5000 },
    ],
  ])('%s', async (_what, reply, outcome) => {
    expect(await call({ endpoint: await serve(reply) }, { now })).toEqual(outcome)
  })

  it('a connection that breaks', async () => {
    const { origin } = await serveRaw((socket) => socket.once('data', () => socket.destroy()))
    expect(await call({ endpoint: origin })).toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('broke'),
    })
  })

  it('a reply that does not come within timeout_seconds', async () => {
    const { origin } = await serveRaw((socket) => void socket.resume())
    const outcome = await call({ endpoint: origin, timeout_seconds: '1' })
    expect(outcome).toMatchObject({ kind: 'retry', message: expect.stringContaining('within 1000 ms') })
  })

  it('a port where nothing listens', async () => {
    const server = await serveHttp(() => undefined)
    await server.close()
    expect(await call({ endpoint: server.origin })).toMatchObject({ kind: 'retry' })
  })

  it('a call that is cancelled', async () => {
    const outcome = await call({ endpoint: await serve({}) }, { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ kind: 'retry', message: expect.stringContaining('cancelled') })
  })

  it.each([
    ['a reply over 10 MB', () => serve({ body: 'x'.repeat(10_000_001) }), 'large'],
    ['an address inside', () => 'http://10.0.0.1/', 'http://10.0.0.1'],
    ['a scheme other than http', () => 'file:///etc/passwd', 'http'],
    ['no address at all', () => 'example', 'The URL is not valid'],
  ])('%s is final', async (_what, endpoint, words) => {
    const outcome = await call({ endpoint: await endpoint() })
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining(words) })
  })

  it('a header that cannot be sent is final', async () => {
    const headers = [{ name: 'X-Note', value: 'a\r\nX-Evil: 1' }]
    expect(await call({ endpoint: await serve({}), headers })).toMatchObject({ kind: 'failed' })
  })
})

describe('http_api_call sends', () => {
  const row = {
    input: { q: 'a b&c', n: '42', name: 'Ann' },
    outputs: { x_1: { tags: ['a', 'b'], person: { id: 7 }, none: null } },
  }

  it('query parameters after those of the address', async () => {
    const { origin, seen } = await record()
    const query_params = [
      { name: 'q', value: '{{input.q}}' },
      { name: 'tags', value: '{{x_1.tags}}' },
      { name: '', value: 'nobody' },
    ]
    await call({ endpoint: `${origin}/p?a=b%20c`, query_params }, { row })
    await call({ endpoint: `${origin}/p#hash`, query_params: query_params.slice(0, 1) }, { row })
    expect(seen.map(({ url }) => url)).toEqual([
      '/p?a=b%20c&q=a+b%26c&tags=%5B%22a%22%2C%22b%22%5D',
      '/p?q=a+b%26c',
    ])
  })

  it.each([
    ['/v1/items/{{input.v}}', '../../echo?admin=1#', '/v1/items/..%2F..%2Fecho%3Fadmin%3D1%23'],
    ['/v1/items/{{input.v}}/x', '7/../../echo', '/v1/items/7%2F..%2F..%2Fecho/x'],
    ['/v1/items/{{input.v}}', '7\\..\\x', '/v1/items/7%5C..%5Cx'],
    ['/v1/items?id={{input.v}}&role=user', '1&role=admin#', '/v1/items?id=1%26role%3Dadmin%23&role=user'],
    ['/v1/items?{{input.v}}=1', 'a=b&c', '/v1/items?a%3Db%26c=1'],
    ['/v1/items/{{input.v}}', 'Zoë & Co', '/v1/items/Zo%C3%AB%20%26%20Co'],
    ['/v1/{{input.v}}', '%2e%2e', '/v1/%252e%252e'],
    ['/v1/{{input.v}}/{{input.v}}', 'a/b', '/v1/a%2Fb/a%2Fb'],
    ['/v1/items/{{input.v}}', '\ud800', '/v1/items/%EF%BF%BD'],
  ])('a value of the row stays in its place: %s with %j', async (path, v, url) => {
    const { origin, seen } = await record()
    await call({ endpoint: `${origin}${path}` }, { row: { input: { v } } })
    expect(seen.map((one) => one.url)).toEqual([url])
  })

  it.each([
    ['/v1/{{input.v}}', '..'],
    ['/v1/{{input.v}}/x', '..'],
    ['/v1/{{input.v}}?a=1', '.'],
    ['/v1/.{{input.v}}', '.'],
    ['/v1/%2E{{input.v}}', '.'],
  ])('a value that leads up in the path is an error: %s with %j', async (path, v) => {
    const { origin, seen } = await record()
    const outcome = await call({ endpoint: `${origin}${path}` }, { row: { input: { v } } })
    const message = `endpoint: a value in its path must not be "${v}"`
    expect([outcome, seen]).toEqual([{ kind: 'unrunnable', message }, []])
  })

  it.each([
    ['alone', '{{input.v}}', (origin: string) => `${origin}/a/../b?c=d#e`, '/b?c=d'],
    ['in front', '{{input.v}}/x?y={{input.w}}', (origin: string) => `${origin}/a/b`, '/a/b/x?y=1%262'],
    ['as the host', 'http://{{input.v}}/x', (origin: string) => origin.slice('http://'.length), '/x'],
  ])('a token %s is the address, or its beginning', async (_where, endpoint, valueOf, url) => {
    const { origin, seen } = await record()
    await call({ endpoint }, { row: { input: { v: valueOf(origin), w: '1&2' } } })
    expect(seen.map((one) => one.url)).toEqual([url])
  })

  it.each(['/', '?', '#', '\\'])('a value with %j in a host leads to no other one', async (end) => {
    const { origin, seen } = await record()
    const v = `${origin.slice('http://'.length)}${end}`
    const outcome = await call({ endpoint: 'http://{{input.v}}.trusted.example/' }, { row: { input: { v } } })
    expect([outcome.kind, seen]).toEqual(['failed', []])
  })

  it.each([
    ['{"q": "{{input.v}}"}', '", "admin": "1', { q: '", "admin": "1' }],
    ['{"q": "say \\"{{input.v}}\\""}', 'a\\', { q: 'say "a\\"' }],
    ['{"n": {{input.v}}}', '1, "admin": true', { n: '1, "admin": true' }],
    ['{"n": {{input.v}}}', '42', { n: 42 }],
    ['{"n": {{input.v}}}', '{"a":[1]}', { n: { a: [1] } }],
    ['{"n": {{input.v}}}', '', { n: null }],
    ['{"{{input.v}}": [1, "{{input.v}}"]}', 'a"b\n', { 'a"b\n': [1, 'a"b\n'] }],
  ])('in raw_body that is JSON a value stays in its place: %s with %j', async (raw_body, v, body) => {
    const { origin, seen } = await record()
    await call({ method: 'POST', endpoint: origin, raw_body }, { row: { input: { v } } })
    expect(seen.map((one) => JSON.parse(one.body) as unknown)).toEqual([body])
    expect(seen[0]?.headers['content-type']).toBe('application/json')
  })

  it('raw_body of a single token is its value', async () => {
    const { origin, seen } = await record()
    const input = { v: '{"a": "b"}' }
    await call({ method: 'POST', endpoint: origin, raw_body: '{{input.v}}' }, { row: { input } })
    expect(seen.map((one) => one.body)).toEqual(['{"a": "b"}'])
  })

  it.each(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])('%s with headers and a body', async (method) => {
    const { origin, seen } = await record()
    await call(
      {
        method,
        endpoint: origin,
        headers: [{ name: 'Authorization', value: 'Bearer {{env.KEY}}' }],
        body: [{ name: 'a', value: 'b' }],
      },
      { row: { env: { KEY: 's3cret' } } },
    )
    expect(seen).toMatchObject([
      {
        method,
        body: '{"a":"b"}',
        headers: { authorization: 'Bearer s3cret', 'content-type': 'application/json' },
      },
    ])
  })

  it('body items as one key each, a lone token with its JSON type', async () => {
    const { origin, seen } = await record()
    const body = [
      { name: 'text', value: 'Hi {{input.name}}' },
      { name: 'n', value: '{{input.n}}' },
      { name: 'tags', value: '{{x_1.tags}}' },
      { name: 'person', value: '{{x_1.person}}' },
      { name: 'none', value: '{{x_1.none}}' },
      { name: 'fixed', value: 5 },
    ]
    await call({ method: 'POST', endpoint: origin, body }, { row })
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      text: 'Hi Ann',
      n: '42',
      tags: ['a', 'b'],
      person: { id: 7 },
      none: null,
      fixed: 5,
    })
  })

  it.each([
    ['{"a": {{x_1.tags}}}', '{"a": ["a","b"]}', 'application/json'],
    ['name={{input.name}}', 'name=Ann', 'text/plain; charset=utf-8'],
  ])('raw_body %s as it is', async (raw_body, body, type) => {
    const { origin, seen } = await record()
    await call({ method: 'POST', endpoint: origin, raw_body }, { row })
    expect(seen).toMatchObject([{ body, headers: { 'content-type': type } }])
  })

  it('the content type that the headers name', async () => {
    const { origin, seen } = await record()
    const headers = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]
    await call({ method: 'POST', endpoint: origin, headers, raw_body: 'a=1' })
    expect(seen).toMatchObject([{ headers: { 'content-type': 'application/x-www-form-urlencoded' } }])
  })

  it('nothing when body and raw_body are both set', async () => {
    const { origin, seen } = await record()
    const outcome = await call({
      method: 'POST',
      endpoint: origin,
      body: [{ name: 'a', value: 'b' }],
      raw_body: 'x',
    })
    expect(outcome).toEqual({
      kind: 'unrunnable',
      message: 'body and raw_body are both set; clear one of them',
    })
    expect(seen).toEqual([])
  })
})

it.each([
  [{ method: 'TRACE' }, 'method must be one of: GET, POST, PATCH, PUT, DELETE'],
  [{ timeout_seconds: '0' }, 'timeout_seconds must be between 1 and 120'],
  [{ timeout_seconds: '121' }, 'timeout_seconds must be between 1 and 120'],
  [{ timeout_seconds: '1.5' }, 'timeout_seconds must be a whole number, as text'],
  [{ headers: 'a: b' }, 'headers must be a list of'],
])('http_api_call refuses %j', async (inputs, message) => {
  await expect(call({ endpoint: 'http://127.0.0.1/', ...inputs })).rejects.toThrow(message)
})
