import { describe, expect, it, onTestFinished } from 'vitest'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from '../../../lib/egress/addresses.ts'
import { createEgress, type Egress } from '../../../lib/egress/egress.ts'
import { Response } from '../../../lib/egress/response.ts'
import { heldMs } from '../../../lib/timing/testing/watched-turns.ts'
import { serveSite, type Site } from '../../testing/site-server.ts'
import { detours, encodings } from '../../testing/sites/odd.ts'
import { type Fetching, fetchHome, fetchPage } from './page-fetch.ts'

function context(): Fetching {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
  onTestFinished(egress.close)
  const signal = new AbortController().signal
  return { egress, signal, now: () => new Date('2026-11-15T00:00:00Z') }
}

const titleOf = (html: string) => /<title>(.*?)<\/title>/.exec(html)?.[1]

/** Fetches a path and returns the title of the page, or the kind of the failure with its outcome. */
async function read(site: Site, path: string) {
  const { origin } = await serveSite(site)
  const result = await fetchPage(context(), origin + path)
  if (result.ok) return { title: titleOf(result.page.text), path: result.page.url.slice(origin.length) }
  const { kind, outcome } = result
  return {
    kind,
    outcome: { ...outcome, ...('message' in outcome && { message: outcome.message.replaceAll(origin, '') }) },
  }
}

describe('the charset of a page is found by byte order mark, header, declaration, then by what the bytes can be', () => {
  it.each([
    ['/shift-jis', '株式会社山田製作所'],
    ['/euc-jp-undeclared', '株式会社山田製作所'],
    ['/windows-1251', 'Завод «Прогресс»'],
    ['/windows-1251-undeclared', 'Завод «Прогресс»'],
    ['/latin-1-undeclared', 'Café Élan'],
    ['/utf-8-called-latin-1', 'Café Élan'],
    ['/utf-16-bom', 'Café Élan'],
    ['/meta-utf-16-in-ascii', 'Café Élan'],
    ['/no-such-charset', 'Café Élan'],
    ['/gzip', 'Café Élan'],
    ['/no-type', 'Café Élan'],
  ])('%s', async (path, title) => {
    expect(await read(encodings, path)).toEqual({ title, path })
  })
})

describe('a page is found by following redirects', () => {
  it.each([
    ['/redirects', 'The end', '/end'],
    ['/refresh', 'The end', '/end'],
    ['/refresh-later', 'Wait', '/refresh-later'],
    ['/refresh-without-script', 'Stay', '/refresh-without-script'],
    ['/end#part', 'The end', '/end'],
  ])('%s', async (path, title, end) => {
    expect(await read(detours, path)).toEqual({ title, path: end })
  })

  it('and it has the cookies of its redirects', async () => {
    const { origin } = await serveSite(detours)
    const result = await fetchPage(context(), `${origin}/redirects`)
    expect(result.ok && result.page.cookies).toEqual(['PHPSESSID=1'])
  })
})

describe('a page that cannot be read gives the reason, and whether it may pass (D24)', () => {
  it.each([
    ['/gone', 'status', { kind: 'failed', message: '/gone answers HTTP 410: there is no such page' }],
    [
      '/missing?key=1',
      'status',
      { kind: 'failed', message: '/missing?... answers HTTP 404: there is no such page' },
    ],
    [
      '/forbidden',
      'status',
      { kind: 'failed', message: expect.stringContaining('does not let this program read it') },
    ],
    ['/busy', 'status', { kind: 'retry', message: '/busy answers HTTP 429', afterMs: 7_000 }],
    ['/broken', 'status', { kind: 'retry', message: '/broken answers HTTP 503', afterMs: 3_600_000 }],
    ['/error', 'status', { kind: 'retry', message: '/error answers HTTP 500' }],
    ['/pdf', 'content_type', { kind: 'failed', message: '/pdf is application/pdf, not a web page' }],
    ['/picture', 'content_type', { kind: 'failed', message: '/picture is image/png, not a web page' }],
    ['/loop', 'too_many_redirects', { kind: 'failed', message: '/loop redirects more than 8 times' }],
    ['/huge', 'too_large', { kind: 'failed', message: expect.stringContaining('3000000') }],
    [
      '/not-for-loam/page',
      'robots',
      { kind: 'failed', message: '/not-for-loam/page may not be read by programs, says /robots.txt' },
    ],
    ['/script.cgi', 'robots', { kind: 'failed', message: expect.stringContaining('robots.txt') }],
    [
      '/to-forbidden',
      'robots',
      { kind: 'failed', message: expect.stringContaining('/not-for-loam/page may not be read') },
    ],
  ])('%s', async (path, kind, outcome) => {
    expect(await read(detours, path)).toEqual({ kind, outcome })
  })

  it('a connection that breaks may be retried', async () => {
    const { origin } = await serveRaw((socket) => socket.once('data', () => socket.destroy()))
    expect(await fetchPage(context(), origin)).toMatchObject({
      ok: false,
      kind: 'reset',
      outcome: { kind: 'retry' },
    })
  })

  it.each([
    'file:///etc/passwd',
    'ftp://a.example/',
    'not an address',
    '',
    'javascript:alert(1)',
    'mailto:a@b.example',
  ])('"%s" is no address of a page', async (address) => {
    expect(await fetchPage(context(), address)).toMatchObject({
      ok: false,
      kind: 'invalid_url',
      outcome: { kind: 'failed' },
    })
  })
})

describe('robots.txt (RFC 9309)', () => {
  const page = '<title>Here</title>'
  const robots = (body: string, more: object = {}): Site => ({
    '/robots.txt': { type: 'text/plain', body, ...more },
    '/a': page,
    '/a/b': page,
  })

  it.each<[string, Site, string, string]>([
    ['is missing', { '/a': page }, '/a', 'Here'],
    ['is a 403', robots('User-agent: *\nDisallow: /', { status: 403 }), '/a', 'Here'],
    ['is empty', robots(''), '/a', 'Here'],
    ['is a web page', robots('<html><body>Disallow: /</body></html>'), '/a', 'Here'],
    ['forbids everything', robots('User-agent: *\nDisallow: /'), '/a', 'robots'],
    ['forbids others', robots('User-agent: GPTBot\nDisallow: /'), '/a', 'Here'],
    ['forbids this program by name', robots('User-agent: LOAM\nDisallow: /'), '/a', 'robots'],
    [
      'speaks to this program alone',
      robots('User-agent: *\nDisallow: /\n\nUser-agent: loam\nDisallow:'),
      '/a',
      'Here',
    ],
    ['has a longer rule that allows', robots('User-agent: *\nDisallow: /a\nAllow: /a/b'), '/a/b', 'Here'],
    ['redirects to itself', robots('', { status: 302, headers: { location: '/robots.txt' } }), '/a', 'Here'],
  ])('that %s', async (_what, site, path, expected) => {
    const result = await read(site, path)
    expect('title' in result ? result.title : result.kind).toBe(expected)
  })

  it.each([500, 503, 429])(
    'that answers %i forbids for now: the page is tried again later',
    async (status) => {
      const site = robots('', { status, headers: { 'retry-after': '9' } })
      expect(await read(site, '/a')).toMatchObject({
        kind: 'robots',
        outcome: { kind: 'retry', afterMs: 9_000 },
      })
    },
  )

  it('is requested once for pages that are read at the same time and after', async () => {
    const { origin, requests } = await serveSite(robots(''))
    const one = context()
    await Promise.all([fetchPage(one, `${origin}/a`), fetchPage(one, `${origin}/a/b`)])
    await fetchPage(one, `${origin}/a`)
    expect(requests.filter((path) => path === '/robots.txt')).toHaveLength(1)
  })

  it('that failed is requested again', async () => {
    const site = robots('', { status: 500 })
    const { origin } = await serveSite(site)
    const one = context()
    expect((await fetchPage(one, `${origin}/a`)).ok).toBe(false)
    site['/robots.txt'] = { type: 'text/plain', body: '' }
    expect((await fetchPage(one, `${origin}/a`)).ok).toBe(true)
  })

  it('is requested, like the page, with the name of the program', async () => {
    const agents: string[] = []
    const server = await serveRaw((socket) => {
      socket.on('data', (data) => {
        agents.push(/user-agent: (.*)/i.exec(String(data))?.[1]?.trim() ?? '')
        socket.end(
          'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
        )
      })
    })
    await fetchPage(context(), `${server.origin}/`)
    expect(agents).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('Loam/')))
  })
})

describe('the home page of a domain', () => {
  it('is read by http if https cannot be reached', async () => {
    const { port } = await serveSite({ '/': '<title>Plain</title>' })
    const result = await fetchHome(context(), [`https://127.0.0.1:${port}/`, `http://127.0.0.1:${port}/`])
    expect(result.ok && titleOf(result.page.text)).toBe('Plain')
  })

  it('reports the first address if none can be reached', async () => {
    const server = await serveRaw(() => undefined)
    await server.close()
    const result = await fetchHome(context(), [
      `https://127.0.0.1:${server.port}/`,
      `http://127.0.0.1:${server.port}/`,
    ])
    expect(result).toMatchObject({
      ok: false,
      kind: 'connect',
      outcome: { kind: 'retry', message: expect.stringContaining('https://') },
    })
  })

  it('is not searched elsewhere if the site answers', async () => {
    const { origin, requests } = await serveSite({ '/': { status: 404 } })
    expect(await fetchHome(context(), [`${origin}/`, `${origin}/other`])).toMatchObject({ kind: 'status' })
    expect(requests).toEqual(['/robots.txt', '/'])
  })
})

it.each([
  ['scripts without end', '<script '],
  ['comments without end', '<!--'],
  ['headers without end', '<meta http-equiv=refresh '],
  ['bytes that no charset explains', '\xb1'],
  ['wide letters', 'ä'],
])('I6: many pages of 3 MB at once hold the thread for less than 200 ms: %s', async (_, part) => {
  const head = '<html lang="ja">'
  const body = Buffer.from(`${head}${part.repeat(2_900_000 / part.length)}`, part === 'ä' ? 'utf8' : 'latin1')
  const replyOf = (url: string) =>
    new Response(
      {
        status: 200,
        body: url.endsWith('/robots.txt') ? Buffer.alloc(0) : body.subarray(0, 3_000_000),
        url,
        redirects: 0,
        location: null,
        more: false,
        ms: 1,
      },
      { 'content-type': 'text/html' },
    )
  const egress: Egress = { ...context().egress, fetch: ({ url }) => Promise.resolve(replyOf(url)) }
  const readAll = () =>
    Promise.all(Array.from({ length: 12 }, () => fetchPage({ ...context(), egress }, 'https://a.example/')))
  expect(
    await heldMs(async () => expect((await readAll()).every(({ ok }) => ok)).toBe(true), 200),
  ).toBeLessThan(200)
})
