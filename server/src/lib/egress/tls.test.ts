import { createServer } from 'node:https'
import tls from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { LOOPBACK_IDENTITY } from '#test/doubles/loopback-identity.ts'
import { listen, serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress, type Egress } from './egress.ts'

function createLocalEgress(): Egress {
  const egress = createEgress({
    allow: parseEgressAllow('127.0.0.1').entries,
    resolve: () => Promise.resolve(['127.0.0.1']),
  })
  onTestFinished(egress.close)
  return egress
}

type Seen = { headers: NodeJS.Dict<string | string[]>; body: string; servername: string | false | null }

async function serveHttps(location?: string, status = 302) {
  const seen: Seen[] = []
  const server = createServer(LOOPBACK_IDENTITY, (request, response) => {
    const { servername } = request.socket as tls.TLSSocket & { servername: string | false | null }
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      seen.push({ headers: request.headers, body, servername })
      if (location === undefined) response.end('ok')
      else response.writeHead(status, { location }).end()
    })
  })
  server.on('tlsClientError', () => undefined)
  return { ...(await listen(server)), seen }
}

it('https to a server whose certificate nobody vouches for sends nothing', async () => {
  const server = await serveHttps()
  const result = await createLocalEgress().fetch({ url: `https://a.internal:${server.port}/secret` })
  expect(result).toMatchObject({
    ok: false,
    kind: 'tls',
    retryable: false,
    message: `https://a.internal:${server.port}: TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT). Check the certificate of that server.`,
  })
  expect(server.seen).toEqual([])
})

describe('https', () => {
  beforeAll(() => tls.setDefaultCACertificates([...tls.getCACertificates('default'), LOOPBACK_IDENTITY.cert]))

  it('asks for and checks the name of the host, not its address', async () => {
    const server = await serveHttps()
    const egress = createLocalEgress()
    expect(await egress.fetch({ url: `https://a.internal:${server.port}/` })).toMatchObject({
      ok: true,
      status: 200,
    })
    expect(server.seen).toMatchObject([{ servername: 'a.internal' }])
    const wrong = await egress.fetch({ url: `https://b.internal:${server.port}/` })
    expect(wrong).toMatchObject({ ok: false, kind: 'tls', retryable: false })
    expect(server.seen.length).toBe(1)
  })

  it('works for an address as well', async () => {
    const server = await serveHttps()
    expect(await createLocalEgress().fetch({ url: `https://127.0.0.1:${server.port}/` })).toMatchObject({
      ok: true,
    })
  })

  it('redirected to http loses its credentials', async () => {
    const headers: NodeJS.Dict<string | string[]>[] = []
    const plain = await serveHttp((request, response) => {
      headers.push(request.headers)
      response.end('ok')
    })
    const server = await serveHttps(`http://a.internal:${plain.port}/`)
    const result = await createLocalEgress().fetch({
      url: `https://a.internal:${server.port}/`,
      headers: { authorization: 'Bearer secret', cookie: 'secret', 'x-api-key': 'secret' },
    })
    expect(result).toMatchObject({ ok: true, redirects: 1 })
    expect(JSON.stringify(server.seen)).toContain('secret')
    expect(JSON.stringify(headers)).not.toContain('secret')
  })

  it('redirected to http does not send its body again', async () => {
    const plain = await serveHttp((_, response) => response.end('ok'))
    const server = await serveHttps(`http://a.internal:${plain.port}/`, 307)
    const url = `https://a.internal:${server.port}/`
    const result = await createLocalEgress().fetch({ url, method: 'POST', body: 'secret' })
    expect(result).toMatchObject({
      ok: false,
      kind: 'protocol',
      message: expect.stringContaining('without encryption'),
    })
    expect(plain.accepted()).toBe(0)
  })

  it('may be where http redirects to, with the body', async () => {
    const server = await serveHttps()
    const plain = await serveHttp((request, response) => {
      request.resume()
      response.writeHead(308, { location: `https://a.internal:${server.port}/` }).end()
    })
    const result = await createLocalEgress().fetch({ url: plain.origin, method: 'POST', body: 'body' })
    expect(result).toMatchObject({ ok: true, redirects: 1 })
    expect(server.seen).toMatchObject([{ body: 'body' }])
  })
})

describe('a server that does not speak TLS', () => {
  it('but HTTP is a failure that stays', async () => {
    const server = await serveHttp((_, response) => response.end('ok'))
    const result = await createLocalEgress().fetch({ url: `https://127.0.0.1:${server.port}/` })
    expect(result).toMatchObject({ ok: false, kind: 'tls', retryable: false })
  })

  it('but closes is a failure that may be tried again', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.destroy()))
    const result = await createLocalEgress().fetch({ url: `https://127.0.0.1:${server.port}/` })
    expect(result).toMatchObject({ ok: false, kind: 'tls', retryable: true })
  })

  it('and says nothing at all runs into the time limit, and close ends its connection', async () => {
    const server = await serveRaw((socket) => socket.resume())
    const egress = createLocalEgress()
    const result = await egress.fetch({ url: `https://a.internal:${server.port}/`, timeoutMs: 200 })
    expect(result).toMatchObject({ ok: false, kind: 'timeout' })
    await egress.close()
    await expect.poll(() => server.open()).toBe(0)
  })
})
