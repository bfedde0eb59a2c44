import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LoopbackServer, serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { MALFORMED_ADDRESSES, REFUSED_ADDRESSES } from '#test/guards/ssrf-addresses.ts'
import { INVALID_URLS, REFUSED_URLS } from '#test/guards/ssrf-urls.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress, type Egress } from './egress.ts'

const ADDRESSES = Object.values(REFUSED_ADDRESSES).flat()
// A zone cannot be written in a URL. Addresses with a zone come only from a resolver.
const ADDRESS_URLS = ADDRESSES.filter((address) => !address.includes('%')).map(
  (address) => `http://${isIPv6(address) ? `[${address}]` : address}:PORT/`,
)

function egressFor(allow: string, resolve?: (host: string) => Promise<string[]>): Egress {
  const { entries, errors } = parseEgressAllow(allow)
  expect(errors).toEqual([])
  const egress = createEgress({ allow: entries, ...(resolve && { resolve }) })
  onTestFinished(egress.close)
  return egress
}

const noName = (host: string) => Promise.reject(new Error(`asked for ${host}`))

const interfaces = Object.values(networkInterfaces()).flat()
const EVERY_ADDRESS = interfaces.some((one) => one?.family === 'IPv6') ? '::' : '0.0.0.0'

/** Starts a server on every address of this machine. Only an allowed call may reach it. */
const serveForbidden = () => serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nreached'), EVERY_ADDRESS)

async function kindsOf(egress: Egress, urls: string[], server: LoopbackServer): Promise<Map<string, string>> {
  const kinds = urls.map(async (url) => {
    const result = await egress.fetch({ url: url.replace('PORT', String(server.port)), timeoutMs: 5_000 })
    return [url, result.ok ? `answered ${result.status}` : result.kind] as const
  })
  return new Map(await Promise.all(kinds))
}

const all = (urls: string[], kind: string) => new Map(urls.map((url) => [url, kind] as const))

describe('SSRF: 0 connections to any address that is not public', () => {
  it('has more than 300 targets', () => {
    const urls = [...ADDRESS_URLS, ...Object.values(REFUSED_URLS).flat(), ...INVALID_URLS]
    expect(new Set(urls).size).toBeGreaterThan(300)
  })

  it('refuses each address as the host of a URL', async () => {
    const server = await serveForbidden()
    expect(await kindsOf(egressFor('', noName), ADDRESS_URLS, server)).toEqual(
      all(ADDRESS_URLS, 'refused_address'),
    )
    expect(server.accepted()).toBe(0)
  })

  it.each(Object.entries(REFUSED_URLS))('refuses each spelling: %s', async (_group, urls) => {
    const server = await serveForbidden()
    expect(await kindsOf(egressFor('', noName), urls, server)).toEqual(all(urls, 'refused_address'))
    expect(server.accepted()).toBe(0)
  })

  it('makes no request for anything that is not a plain http or https URL', async () => {
    const server = await serveForbidden()
    // All addresses are allowed here, so only the URL itself can be the reason.
    const egress = egressFor('0.0.0.0/0 ::/0', () => Promise.resolve(['127.0.0.1']))
    expect(await kindsOf(egress, INVALID_URLS, server)).toEqual(all(INVALID_URLS, 'invalid_url'))
    expect(server.accepted()).toBe(0)
  })

  it('refuses a host name that resolves to any of them', async () => {
    const server = await serveForbidden()
    const answers = [...ADDRESSES, ...MALFORMED_ADDRESSES]
    const egress = egressFor('', (host) => Promise.resolve([answers[Number(host.split('.')[1])] ?? '']))
    const urls = answers.flatMap((_, index) => [
      `http://host.${index}.example:PORT/`,
      `https://host.${index}.example:PORT/`,
    ])
    expect(await kindsOf(egress, urls, server)).toEqual(all(urls, 'refused_address'))
    expect(server.accepted()).toBe(0)
  })

  it('refuses a host name with any refused address among its addresses', async () => {
    const server = await serveForbidden()
    for (const answer of [
      ['93.184.216.34', '127.0.0.1'],
      ['127.0.0.1', '93.184.216.34'],
      ['2606:4700::1', '93.184.216.34', '::1'],
    ]) {
      const egress = egressFor('', () => Promise.resolve(answer))
      const result = await egress.fetch({ url: `http://two-faced.example:${server.port}/` })
      expect(result).toMatchObject({ ok: false, kind: 'refused_address' })
    }
    expect(server.accepted()).toBe(0)
  })

  it('refuses a redirect to any of them', async () => {
    const server = await serveForbidden()
    const urls = Object.entries(REFUSED_URLS)
      .filter(([group]) => group !== 'misleading URLs')
      .flatMap(([, spellings]) => spellings)
      // eslint-disable-next-line no-control-regex
      .filter((url) => !/[\x00-\x1f]/.test(url))
      .concat(ADDRESS_URLS)
    const entrance = await serveHttp((request, response) => {
      const location = urls[Number(request.url?.slice(1))]?.replace('PORT', String(server.port)) ?? ''
      response.writeHead(302, { location: Buffer.from(location, 'utf8').toString('latin1') }).end()
    })
    const egress = egressFor(`127.0.0.1:${entrance.port}`, noName)
    const results = await Promise.all(
      urls.map((_, index) => egress.fetch({ url: `${entrance.origin}/${index}`, timeoutMs: 5_000 })),
    )
    const kinds = results.map(
      (result, index) => [urls[index] ?? '', result.ok ? 'answered' : result.kind] as const,
    )
    expect(new Map(kinds)).toEqual(all(urls, 'refused_address'))
    expect(server.accepted()).toBe(0)
  })

  it('reaches that listener once an entry allows it, so that the tests above could fail', async () => {
    const server = await serveForbidden()
    const result = await egressFor('127.0.0.0/8').fetch({ url: `http://127.1:${server.port}/` })
    expect(result).toMatchObject({ ok: true, status: 200 })
    expect(server.accepted()).toBe(1)
  })
})

describe('DNS rebinding', () => {
  // 127.0.0.1 is allowed and stands for a public address. 127.0.0.2 stands for a private one.
  it('connects to the address that was checked and resolves no second time', async () => {
    const server = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood'))
    const answers = ['127.0.0.1', '127.0.0.2']
    let asked = 0
    const egress = egressFor('127.0.0.1', () => Promise.resolve([answers[asked++] ?? '127.0.0.2']))
    const url = `http://rebind.example:${server.port}/`

    const first = await egress.fetch({ url })
    expect(first.ok && (await first.text())).toBe('good')
    expect(asked).toBe(1)

    const second = await egress.fetch({ url })
    expect(second).toMatchObject({ ok: false, kind: 'refused_address' })
    expect(asked).toBe(2)
    expect(server.accepted()).toBe(1)
  })

  it('checks again at every redirect', async () => {
    const server = await serveHttp((_, response) => {
      response.writeHead(302, { location: '/again', connection: 'close' }).end()
    })
    let asked = 0
    const egress = egressFor('127.0.0.1', () => Promise.resolve([asked++ === 0 ? '127.0.0.1' : '127.0.0.2']))
    const result = await egress.fetch({ url: `http://rebind.example:${server.port}/` })
    expect(result).toMatchObject({ ok: false, kind: 'refused_address' })
    expect(server.accepted()).toBe(1)
  })

  it('does not lend a connection that was allowed for one host to another host at the same address', async () => {
    const server = await serveHttp((_, response) => response.end('ok'))
    const egress = egressFor('allowed.internal', () => Promise.resolve(['127.0.0.1']))
    expect((await egress.fetch({ url: `http://allowed.internal:${server.port}/` })).ok).toBe(true)
    const other = await egress.fetch({ url: `http://other.internal:${server.port}/` })
    expect(other).toMatchObject({ ok: false, kind: 'refused_address' })
    expect(server.accepted()).toBe(1)
  })
})

describe('the message of a refusal', () => {
  it.each([
    [
      'http://[::1]:8080/secret?key=secret',
      'http://[::1]:8080: refused, because this is a loopback address. ' +
        'The operator can permit it with LOAM_EGRESS_ALLOW=[::1]:8080.',
    ],
    [
      'https://db.internal/secret?key=secret',
      'https://db.internal: refused, because the host resolves to a private address. ' +
        'The operator can permit it with LOAM_EGRESS_ALLOW=db.internal:443.',
    ],
  ])(
    'says what happened to %s and what to do, without path, query or resolved address',
    async (url, message) => {
      const egress = egressFor('', () => Promise.resolve(['10.1.2.3']))
      const result = await egress.fetch({ url })
      expect(result).toMatchObject({ ok: false, kind: 'refused_address', message, retryable: false })
    },
  )
})
