import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress, type Egress } from './egress.ts'
import type { EgressRequest } from './request.ts'

/** Creates an egress that reaches only loopback. `*.internal` names resolve to loopback too. */
function createLocalEgress(userAgent?: string): Egress {
  const egress = createEgress({
    allow: parseEgressAllow('127.0.0.1').entries,
    resolve: (host) =>
      host.endsWith('.internal')
        ? Promise.resolve(['127.0.0.1'])
        : Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })),
    ...(userAgent === undefined ? {} : { userAgent }),
  })
  onTestFinished(egress.close)
  return egress
}

type Seen = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }

/** Starts a server that records requests. It responds with the redirect of the path, else with 200. */
async function serveRecorder(redirects: Record<string, [status: number, location: string]> = {}) {
  const seen: Seen[] = []
  const server = await serveHttp((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      const redirect = redirects[request.url ?? '']
      if (redirect === undefined) response.end('ok')
      else response.writeHead(redirect[0], { location: redirect[1] }).end('moved')
    })
  })
  return { ...server, seen }
}

describe('a request', () => {
  it('sends method, headers, body and the names this client chooses', async () => {
    const server = await serveRecorder()
    const result = await createLocalEgress('loam/1').fetch({
      url: `${server.origin}/a%20b/ü?q=1&r=#fragment`,
      method: 'post',
      headers: { Authorization: 'Bearer x', 'X-Umlaut': 'ü' },
      body: '{"a":"ü"}',
    })
    expect(result).toMatchObject({
      ok: true,
      status: 200,
      redirects: 0,
      url: expect.stringContaining('/a%20b/'),
    })
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        url: '/a%20b/%C3%BC?q=1&r=',
        body: '{"a":"ü"}',
        headers: {
          host: `127.0.0.1:${server.port}`,
          'user-agent': 'loam/1',
          accept: '*/*',
          'accept-encoding': 'gzip, deflate, br, zstd',
          authorization: 'Bearer x',
          'x-umlaut': 'ü',
          'content-length': '10',
        },
      },
    ])
  })

  it('sends bytes as they are', async () => {
    const server = await serveHttp((request, response) => request.pipe(response))
    const body = Uint8Array.from([0, 255, 128, 13, 10])
    const result = await createLocalEgress().fetch({ url: server.origin, method: 'PUT', body })
    expect(result.ok && [...result.body]).toEqual([...body])
  })

  it.each<[string, Partial<EgressRequest>, string]>([
    ['a line break in a header', { headers: { 'X-Key': 'a\r\nx-evil: 1' } }, 'x-key'],
    ['a NUL in a header', { headers: { 'X-Key': 'a\0' } }, 'x-key'],
    ['a character beyond Latin-1 in a header', { headers: { 'X-Key': '→' } }, 'x-key'],
    ['a line break in a header name', { headers: { 'x\r\ny': '1' } }, 'name'],
    ['an empty header name', { headers: { '': '1' } }, 'name'],
    ['the same header twice', { headers: { accept: 'a', Accept: 'b' } }, 'accept'],
    ...[
      'Host',
      'Connection',
      'Content-Length',
      'Transfer-Encoding',
      'Upgrade',
      'Expect',
      'Accept-Encoding',
    ].map((name): [string, Partial<EgressRequest>, string] => [
      `the header ${name}`,
      { headers: { [name]: '1' } },
      name.toLowerCase(),
    ]),
    ['the method CONNECT', { method: 'CONNECT' }, 'method'],
    ['a method with a line break', { method: 'GET / HTTP/1.1\r\n' }, 'method'],
    ['an empty method', { method: '' }, 'method'],
  ])('is not sent with %s', async (_what, request, named) => {
    const server = await serveRecorder()
    const result = await createLocalEgress().fetch({ url: `${server.origin}/secret`, ...request })
    expect(result).toMatchObject({ ok: false, kind: 'protocol', retryable: false })
    expect(!result.ok && result.message).toMatch(new RegExp(`^${server.origin}: .*${named}`))
    expect(!result.ok && result.message).not.toContain('evil')
    expect(server.accepted()).toBe(0)
  })

  it('takes no notice of proxies in the environment', async () => {
    const proxy = await serveRecorder()
    const server = await serveRecorder()
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
      vi.stubEnv(name, name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.origin)
    }
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await createLocalEgress().fetch({ url: server.origin })).ok).toBe(true)
    expect([proxy.accepted(), server.accepted()]).toEqual([0, 1])
  })
})

describe('an answer', () => {
  it('is a success whatever its status', async () => {
    const server = await serveHttp((_, response) => response.writeHead(503).end('busy'))
    const result = await createLocalEgress().fetch({ url: server.origin })
    expect(result).toMatchObject({ ok: true, status: 503 })
  })

  it('keeps every value of a header, under its lower-case name', async () => {
    const server = await serveRaw((socket) => {
      socket.end(
        'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n__proto__: x\r\ncontent-length: 0\r\n\r\n',
      )
    })
    const result = await createLocalEgress().fetch({ url: server.origin })
    if (!result.ok) throw new Error(result.message)
    expect(result.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(result.header('Set-Cookie')).toBe('a=1, b=2')
    expect(result.header('__proto__')).toBe('x')
    expect(result.header('constructor')).toBeUndefined()
  })

  it.each([
    ['{"a":[1]}', { ok: true, value: { a: [1] } }],
    ['\uFEFF{"a":1}', { ok: true, value: { a: 1 } }],
    ['"[[[\\"[["', { ok: true, value: '[[["[[' }],
    ['['.repeat(100) + ']'.repeat(100), { ok: true }],
    ['['.repeat(101) + ']'.repeat(101), { ok: false, message: expect.stringContaining('100 levels') }],
    ['{"a":'.repeat(500_000), { ok: false, message: expect.stringContaining('100 levels') }],
    ['<html>', { ok: false, message: 'the answer is not valid JSON' }],
    ['', { ok: false, message: 'the answer is not valid JSON' }],
  ])('is read as JSON into a value or a reason (%#)', async (body, expected) => {
    const server = await serveHttp((_, response) => response.end(body))
    const result = await createLocalEgress().fetch({ url: server.origin })
    expect(result.ok && (await result.json())).toMatchObject(expected)
  })

  it('is read as UTF-8 with replacement', async () => {
    const server = await serveHttp((_, response) => response.end(Buffer.from([0x61, 0xff, 0xc3, 0xbc, 0x00])))
    const result = await createLocalEgress().fetch({ url: server.origin })
    expect(result.ok && (await result.text())).toBe('a\uFFFDü\0')
  })

  it.each(['HEAD', 'GET'])('to %s without a body may name an encoding and a length', async (method) => {
    const headers = {
      'content-encoding': 'gzip',
      ...(method === 'HEAD' ? { 'content-length': '99999999' } : {}),
    }
    const server = await serveHttp((_, response) =>
      response.writeHead(method === 'HEAD' ? 200 : 304, headers).end(),
    )
    const result = await createLocalEgress().fetch({ url: server.origin, method })
    expect(result.ok && result.body.length).toBe(0)
  })
})

describe('a redirect', () => {
  it.each([
    [301, 'GET', 'GET', false],
    [301, 'POST', 'GET', false],
    [301, 'PUT', 'PUT', true],
    [302, 'POST', 'GET', false],
    [302, 'HEAD', 'HEAD', false],
    [303, 'POST', 'GET', false],
    [303, 'PUT', 'GET', false],
    [303, 'HEAD', 'HEAD', false],
    [307, 'POST', 'POST', true],
    [308, 'POST', 'POST', true],
    [308, 'DELETE', 'DELETE', false],
  ])('%i of %s becomes %s by the fetch standard', async (status, method, expected, keepsBody) => {
    const server = await serveRecorder({ '/from': [status, '/to?x=1'] })
    const sendsBody = method === 'POST' || method === 'PUT'
    const result = await createLocalEgress().fetch({
      url: `${server.origin}/from`,
      method,
      ...(sendsBody && { body: 'body', headers: { 'content-type': 'text/plain', 'content-language': 'en' } }),
    })
    expect(result).toMatchObject({ ok: true, status: 200, redirects: 1, url: `${server.origin}/to?x=1` })
    expect(server.seen[1]).toMatchObject({ method: expected, url: '/to?x=1', body: keepsBody ? 'body' : '' })
    expect(server.seen[1]?.headers['content-type']).toBe(keepsBody ? 'text/plain' : undefined)
    expect(server.seen[1]?.headers['content-language']).toBe(keepsBody ? 'en' : undefined)
  })

  it('keeps credentials on the same origin', async () => {
    const server = await serveRecorder({ '/from': [302, '/to'] })
    await createLocalEgress().fetch({ url: `${server.origin}/from`, headers: { authorization: 'Bearer x' } })
    expect(server.seen[1]?.headers.authorization).toBe('Bearer x')
  })

  it.each(['another port', 'another host name'])(
    'to %s loses every header that may be a credential',
    async (where) => {
      const other = await serveRecorder({ '/to': [302, '/final'] })
      const server = await serveRecorder()
      const target = where === 'another port' ? other.origin : `http://b.internal:${other.port}`
      const first = await serveRecorder({ '/from': [302, `${target}/to`] })
      const headers = {
        authorization: 'Bearer secret',
        cookie: 'a=secret',
        'proxy-authorization': 'secret',
        'x-api-key': 'secret',
        accept: 'text/html',
        'accept-language': 'de',
        'user-agent': 'mine',
      }
      const result = await createLocalEgress().fetch({ url: `${first.origin}/from`, headers })
      expect(result).toMatchObject({ ok: true, redirects: 2 })
      expect(first.seen[0]?.headers).toMatchObject(headers)
      expect(other.seen.map((request) => request.url)).toEqual(['/to', '/final'])
      for (const request of other.seen) {
        expect(JSON.stringify(request)).not.toContain('secret')
        expect(request.headers).toMatchObject({
          accept: 'text/html',
          'accept-language': 'de',
          'user-agent': 'mine',
        })
      }
      expect(server.seen).toEqual([])
    },
  )

  it('back to the first origin does not bring credentials back', async () => {
    const redirects: Record<string, [number, string]> = {}
    const first = await serveRecorder(redirects)
    const other = await serveRecorder({ '/to': [302, `${first.origin}/back`] })
    redirects['/from'] = [302, `${other.origin}/to`]
    await createLocalEgress().fetch({ url: `${first.origin}/from`, headers: { 'x-api-key': 'secret' } })
    expect(first.seen.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
      ['/from', 'secret'],
      ['/back', undefined],
    ])
  })

  it('may be relative, in UTF-8 bytes, and without a body', async () => {
    const location = Buffer.from('../ü?q=ü', 'utf8').toString('latin1')
    const server = await serveRecorder({ '/a/b/c': [302, location] })
    const result = await createLocalEgress().fetch({ url: `${server.origin}/a/b/c` })
    expect(result.ok && result.url).toBe(`${server.origin}/a/%C3%BC?q=%C3%BC`)
  })

  it('without a location is an answer', async () => {
    const server = await serveHttp((_, response) => response.writeHead(302).end('body'))
    expect(await createLocalEgress().fetch({ url: server.origin })).toMatchObject({ ok: true, status: 302 })
  })

  it.each([
    ['ftp://127.0.0.1/', 'neither http nor https'],
    ['file:///etc/passwd', 'neither http nor https'],
    ['data:text/plain,x', 'neither http nor https'],
    ['javascript:alert(1)', 'neither http nor https'],
    ['http://user:secret@127.0.0.1/', 'user name or password'],
    ['http://127.0.0.1:99999/', 'not valid'],
    ['http://[::1/', 'not valid'],
  ])('to %s is a failure', async (location, reason) => {
    const server = await serveRecorder({ '/': [302, location] })
    const result = await createLocalEgress().fetch({ url: server.origin })
    expect(result).toMatchObject({ ok: false, kind: 'protocol', message: expect.stringContaining(reason) })
    expect(!result.ok && result.message).not.toContain('secret')
  })

  it('to two places at once is a failure', async () => {
    const server = await serveHttp((_, response) =>
      response.writeHead(302, ['location', '/a', 'location', '/b']).end(),
    )
    expect(await createLocalEgress().fetch({ url: server.origin })).toMatchObject({
      ok: false,
      kind: 'protocol',
    })
  })

  it.each([
    [undefined, 6],
    [2, 3],
    [0, 1],
  ])('loop ends at the limit (%s)', async (maxRedirects, requests) => {
    const server = await serveRecorder({ '/': [302, '/'] })
    const result = await createLocalEgress().fetch({
      url: server.origin,
      ...(maxRedirects === undefined ? {} : { maxRedirects }),
    })
    expect(result).toMatchObject({ ok: false, kind: 'too_many_redirects', retryable: false })
    expect(server.seen.length).toBe(requests)
  })

  it('chain of exactly the limit is followed', async () => {
    const chain = Object.fromEntries(
      [0, 1, 2, 3, 4].map((n) => [`/${n}`, [302, `/${n + 1}`] as [number, string]]),
    )
    const server = await serveRecorder(chain)
    const result = await createLocalEgress().fetch({ url: `${server.origin}/0` })
    expect(result).toMatchObject({ ok: true, redirects: 5, url: `${server.origin}/5` })
  })
})

describe('connections', () => {
  it('are used again for the same origin, also after a redirect', async () => {
    const server = await serveRecorder({ '/from': [302, '/to'] })
    const egress = createLocalEgress()
    for (let round = 0; round < 3; round += 1) {
      await egress.fetch({ url: `${server.origin}/from` })
      await sleep(5)
    }
    // The body of a redirect may still be arriving when the next request is sent on a second connection.
    expect(server.seen.length).toBe(6)
    expect(server.accepted()).toBeLessThanOrEqual(2)
  })

  it('resolve a name once for calls that start together', async () => {
    const server = await serveRecorder()
    let asked = 0
    const egress = createEgress({
      allow: parseEgressAllow('127.0.0.1').entries,
      resolve: async () => {
        asked += 1
        await sleep(20)
        return ['127.0.0.1']
      },
    })
    onTestFinished(egress.close)
    const url = `http://a.internal:${server.port}/`
    const results = await Promise.all(Array.from({ length: 20 }, () => egress.fetch({ url })))
    expect(results.every((result) => result.ok)).toBe(true)
    expect([asked, server.accepted()]).toEqual([1, 20])
  })

  it('go to the next address when the first does not answer', async () => {
    const server = await serveRecorder()
    const egress = createEgress({
      allow: parseEgressAllow('127.0.0.0/8').entries,
      resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']),
    })
    onTestFinished(egress.close)
    expect((await egress.fetch({ url: `http://a.internal:${server.port}/` })).ok).toBe(true)
  })

  it('end with close, which fails calls under way and later ones as aborted', async () => {
    const server = await serveHttp(() => undefined)
    const egress = createLocalEgress()
    const underWay = egress.fetch({ url: server.origin })
    const connecting = egress.fetch({ url: `http://a.internal:${server.port}/` })
    await expect.poll(() => server.open()).toBe(2)
    await egress.close()
    const later = await egress.fetch({ url: server.origin })
    for (const result of [await underWay, await connecting, later]) {
      expect(result).toMatchObject({ ok: false, kind: 'aborted', retryable: false })
    }
    await expect.poll(() => server.open()).toBe(0)
  })
})
