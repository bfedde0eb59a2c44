import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: workflow } = (await org.call('POST', '/workflows', { name: 'Bodies' })).body.data

describe('part 1: envelope', () => {
  it('a success is {status, data}', async () => {
    const { body } = await org.call('GET', '/user/knowledge')
    expect(body).toEqual({ status: 200, data: { content: null, exists: false, updated_at: null } })
  })

  it('D4: an unknown field is ignored with a warning', async () => {
    const { status, body } = await org.call('PUT', '/user/knowledge', { content: 'a', colour: 'red' })
    expect(status).toBe(200)
    expect(body.warnings).toEqual([
      { field: 'colour', code: 'unknown_field', message: 'this field is not known here and was ignored' },
    ])
  })
})

describe('part 7: errors', () => {
  const required = (field: string) => [{ field, message: 'required' }]
  const put = (body: unknown) => ['PUT', '/user/knowledge', body] as const
  const invite = (body: unknown) => ['POST', '/org/members', body] as const
  it.each<[string, readonly [string, string, unknown], unknown]>([
    ['missing field', put({}), required('content')],
    ['D69: no body', put(undefined), required('content')],
    ['D69: empty body', put(' '), required('content')],
    [
      'D69: no body where a list is wanted',
      ['POST', `/workflows/${workflow}/sheets/${workflow}/inputs`, undefined],
      required('inputs'),
    ],
    ['no coercion of numbers', put({ content: 5 }), [{ field: 'content', message: 'must be a string' }]],
    ['null', put({ content: null }), [{ field: 'content', message: 'must be a string' }]],
    ['an array', put([]), [{ field: 'body', message: 'must be an object' }]],
    ['a string', put('"x"'), [{ field: 'body', message: 'must be an object' }]],
    [
      'bad JSON',
      put('{"content":'),
      [{ field: 'body', message: expect.stringContaining('must be valid JSON') }],
    ],
    ['every failure at once', invite({}), [...required('email'), ...required('role')]],
    [
      'every failure at once, with their words',
      invite({ email: 'nobody', role: 'owner' }),
      [
        { field: 'email', message: 'must be an email address' },
        { field: 'role', message: 'must be one of: admin, member' },
      ],
    ],
    [
      'deep nesting',
      put(`{"content":${'['.repeat(100)}${']'.repeat(100)}}`),
      [{ field: 'body', message: 'must not be nested deeper than 64 levels' }],
    ],
    ['NUL', put({ content: 'a\0b' }), [{ field: 'content', message: 'must not contain NUL characters' }]],
    [
      'half a surrogate pair',
      put({ content: 'a\ud800' }),
      [{ field: 'content', message: expect.stringContaining('well-formed') }],
    ],
  ])('400 %s', async (_name, [method, path, body], errors) => {
    const answer = await org.call(method, path, body, { 'content-type': 'application/json' })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      status: 400,
      error: 'Validation Error',
      message: `${(errors as unknown[]).length} validation errors`,
      errors,
    })
  })

  it('brackets inside strings are not nesting', async () => {
    const content = `${'['.repeat(500)}\\"{{{`
    const { status, body } = await org.call('PUT', '/user/knowledge', { content })
    expect([status, body.data.content]).toEqual([200, content])
  })

  it('a __proto__ key changes nothing and is warned about', async () => {
    const { status, body } = await org.call('PUT', '/user/knowledge', '{"content":"p","__proto__":{"x":1}}')
    expect(status).toBe(200)
    expect(body.warnings).toMatchObject([{ field: '__proto__', code: 'unknown_field' }])
  })

  it('415 for a body that is not JSON', async () => {
    const { status, body } = await org.call('PUT', '/user/knowledge', 'content=1', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect([status, body.error]).toEqual([415, 'Unsupported Media Type'])
    expect(body.message).toContain('application/json')
  })

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data', 'not a type'])(
    'D69: the content type %s of an empty body is ignored',
    async (type) => {
      const runAll = `/workflows/${workflow}/sheets/${workflow}/run-all`
      const empty = await org.call('POST', runAll, undefined, { 'content-type': type })
      expect(empty.body.errors).toEqual([{ field: 'body', message: expect.stringContaining('no action') }])
      const missing = await org.call('PUT', '/user/knowledge', undefined, { 'content-type': type })
      expect([missing.status, missing.body.errors]).toEqual([400, required('content')])
    },
  )

  it('D69: 415 is for bodies with bytes, also without a content-length', async () => {
    const origin = await app.api.listen({ host: '127.0.0.1', port: 0 })
    const put = async (chunks: string[]) => {
      const answer = await fetch(`${origin}/api/v1/user/knowledge`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${org.key}`, 'content-type': 'text/plain' },
        body: ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk))),
        duplex: 'half',
      })
      return [answer.status, await answer.json()]
    }
    expect(await put([])).toMatchObject([400, { errors: required('content') }])
    expect(await put(['a', 'b'])).toMatchObject([415, { error: 'Unsupported Media Type' }])
  })

  it('D6: 413 for a body over the limit', async () => {
    const { status, body } = await org.call('PUT', '/user/knowledge', `{"content":"${'x'.repeat(33 << 20)}"}`)
    expect([status, body.error]).toEqual([413, 'Payload Too Large'])
  })

  it('400 for a body that is not UTF-8', async () => {
    const response = await app.api.inject({
      method: 'PUT',
      url: '/api/v1/user/knowledge',
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      payload: Buffer.from([0x22, 0xff, 0x22]),
    })
    expect(response.statusCode).toBe(400)
    expect(response.json().errors).toEqual([{ field: 'body', message: 'must be UTF-8' }])
  })

  it.each(['/nothing/here', '/api/v1/users', '/api/v1/user/knowledge/more'])(
    '404 in the envelope: %s',
    async (path) => {
      const { status, body } = await org.call('GET', path)
      expect(status).toBe(404)
      expect(body).toEqual({ status: 404, error: 'Not Found', message: expect.any(String) })
    },
  )

  it('400 in the envelope for a path that is not percent-encoded', async () => {
    const { status, body } = await org.call('GET', '/api/v1/user/%E0%A4%A')
    expect([status, body.error]).toEqual([400, 'Validation Error'])
  })
})

describe('D8: trailing slashes, HEAD and OPTIONS', () => {
  it.each(['/user', '/user/', '/user/knowledge', '/user/knowledge/'])(
    '%s answers without a redirect',
    async (path) => {
      expect((await org.call('GET', path)).status).toBe(200)
    },
  )

  it('HEAD answers as GET without a body', async () => {
    const { status, body, headers } = await org.call('HEAD', '/user/')
    expect([status, body]).toEqual([200, undefined])
    expect(Number(headers['content-length'])).toBeGreaterThan(0)
    expect((await app.call(null, 'HEAD', '/user/')).status).toBe(401)
  })

  it('OPTIONS names the methods of a path and needs no key', async () => {
    const { status, headers } = await app.call(null, 'OPTIONS', '/user/knowledge')
    expect([status, headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS, PUT'])
  })
})

describe('D14: request ids, documents, operations', () => {
  it('X-Request-Id is on every response; an id sent by the caller is kept', async () => {
    expect((await org.call('GET', '/user')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect((await app.call(null, 'GET', '/user')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    const named = await org.call('GET', '/user', undefined, { 'x-request-id': 'trace.42' })
    expect(named.headers['x-request-id']).toBe('trace.42')
    const hostile = await org.call('GET', '/user', undefined, { 'x-request-id': 'a b"' })
    expect(hostile.headers['x-request-id']).not.toBe('a b"')
  })

  it('OpenAPI 3.1 with version 1.0.0 describes the routes, their bodies and errors', async () => {
    const { status, body } = await app.call(null, 'GET', '/openapi.json')
    expect(status).toBe(200)
    expect([body.openapi, body.info.version]).toEqual(['3.1.0', '1.0.0'])
    const invite = body.paths['/api/v1/org/members'].post
    expect(invite.requestBody.content['application/json'].schema.required).toEqual(['email', 'role'])
    expect(Object.keys(invite.responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ])
    // Part 7 of the specification: the statuses that only the web agent has.
    expect(Object.keys(body.paths['/api/v1/agent/run'].post.responses)).toEqual(
      expect.arrayContaining(['402', '422', '504']),
    )
    expect(body.paths['/api/v1/workflows'].get.responses).not.toHaveProperty('422')
    const named = JSON.stringify(body.paths).matchAll(/#\/components\/schemas\/([^"]+)/g)
    for (const [, name] of named) expect(body.components.schemas[String(name)]).toBeDefined()
  })

  it.each([
    ['/healthz', 200, { status: 200, data: { alive: true } }],
    ['/readyz', 200, { status: 200, data: { ready: true } }],
  ])('%s', async (path, status, body) => {
    const response = await app.api.inject(path)
    expect([response.statusCode, response.json()]).toEqual([status, body])
  })

  it('/metrics speaks Prometheus and counts requests by route', async () => {
    await org.call('GET', '/user')
    const response = await app.api.inject('/metrics')
    expect(response.headers['content-type']).toContain('text/plain')
    expect(response.body).toMatch(
      /loam_http_request_seconds_count\{method="GET",route="\/api\/v1\/user",status="200"\} \d+/,
    )
  })

  it('/docs shows the API reference from our own server', async () => {
    const page = await app.api.inject('/docs/')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('/api/v1/openapi.json')
    expect(page.body).not.toMatch(/src="https?:/)
    expect((await app.api.inject('/docs/js/scalar.js')).statusCode).toBe(200)
    const { statusCode, headers } = await app.api.inject('/docs')
    expect([statusCode, headers.location]).toEqual([301, '/docs/'])
    expect((await app.api.inject('/docs/none')).statusCode).toBe(404)
  })
})

it('a route that does not declare its scope keeps the server from starting', async () => {
  const { createApp } = await import('../app.ts')
  const fresh = await createApp(app.services)
  expect(() => fresh.get('/api/v1/undeclared', () => 'x')).toThrow(
    '/api/v1/undeclared does not declare its scope',
  )
  await fresh.close()
})
