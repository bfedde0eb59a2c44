import { createServer, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type LoopbackServer, serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { REFUSED_ADDRESSES } from '#test/guards/ssrf-addresses.ts'
import { INVALID_URLS, REFUSED_URLS } from '#test/guards/ssrf-urls.ts'
import { parseEgressAllow } from '../../../lib/egress/addresses.ts'
import { createEgress, type Egress } from '../../../lib/egress/egress.ts'
import { createPageReaders } from '../../agent/page-reader.ts'
import { serveChat } from '../../testing/chat-server.ts'
import { useActions } from '../../testing/run-action.ts'
import { serveSite, type Site } from '../../testing/site-server.ts'

const runAction = useActions()

/** Reads an address of a caller, to the largest extent that it supports, and returns the outcome. */
type Fetcher = (url: string, egress: Egress) => Promise<{ kind: string }>

const act =
  (id: string, input: string, more: Record<string, unknown> = {}): Fetcher =>
  (url, egress) =>
    runAction(id, { [input]: url, ...more }, { egress })

/** Reads with the agent's reader, then reads every page that it listed. */
const readAsAgent: Fetcher = async (url, egress) => {
  const context = { egress, signal: new AbortController().signal, now: () => new Date() }
  const reader = createPageReaders({ keepSeconds: 0 }).of('a test')
  const read = await reader.read(context, url)
  if (!read.ok) return { kind: 'failed' }
  const told = [...read.page.links.map((link) => link.url), ...read.page.listed]
  await inTurns(told, async (link) => void (await reader.read(context, link)))
  return { kind: 'done' }
}

/** The built-in actions that read addresses of callers. */
const FETCHERS: [string, Fetcher][] = [
  ['scrape_website', act('scrape_website', 'url', { max_pages: '20' })],
  ['company_profile_from_website', act('company_profile_from_website', 'domain')],
  ['detect_technologies', act('detect_technologies', 'domain')],
  ['company_job_openings', act('company_job_openings', 'domain')],
  ['company_news', act('company_news', 'domain')],
  ['the page reader of the agent', readAsAgent],
]

const ADDRESSES = Object.values(REFUSED_ADDRESSES).flat()
const ADDRESS_URLS = ADDRESSES.filter((address) => !address.includes('%')).map(
  (address) => `http://${isIPv6(address) ? `[${address}]` : address}:PORT/`,
)
const SPELLINGS = Object.values(REFUSED_URLS).flat()
const TARGETS = [...ADDRESS_URLS, ...SPELLINGS, ...INVALID_URLS]

const interfaces = Object.values(networkInterfaces()).flat()
const EVERY_ADDRESS = interfaces.some((one) => one?.family === 'IPv6') ? '::' : '0.0.0.0'

/** Listens on every address of this machine. No call may reach it. */
const serveForbidden = () =>
  serveRaw(
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<title>reached</title>'),
    EVERY_ADDRESS,
  )

async function egressFor(allow: string, zone: Zone = {}, smtpPort = 25) {
  const { server } = await serveNames(zone)
  const { entries } = parseEgressAllow(allow)
  const egress = createEgress({
    allow: entries,
    servers: [server],
    smtpProbe: { port: smtpPort, name: 'loam.test' },
  })
  onTestFinished(egress.close)
  return egress
}

/** Runs a few at a time: name servers on loopback drop queries that arrive all at once. */
async function inTurns<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += 20) await Promise.all(items.slice(from, from + 20).map(run))
}

// All actions share the code that follows redirects, so one action gets every spelling and the others get one of each
// group.
const isPlain = (url: string) => /^http:\/\/[\w.:[\]]+\/$/.test(url)
const EVERY = SPELLINGS.filter(isPlain)
const SOME = Object.values(REFUSED_URLS).flatMap((group) => group.filter(isPlain).slice(0, 1))
const SITES_OF = {
  ...Object.fromEntries(FETCHERS.map(([id]) => [id, SOME])),
  scrape_website: EVERY,
  'the page reader of the agent': EVERY,
} as Record<string, string[]>

const mapOf = (urls: string[]) =>
  `<urlset>${urls.map((url) => `<url><loc>${url}about</loc></url>`).join('')}</urlset>`

const at = (url: string, { port }: LoopbackServer) => url.replace('PORT', String(port))

describe.each(FETCHERS)('SSRF: %s makes 0 connections', (id, fetch) => {
  it(`to any of ${TARGETS.length} addresses that are not public, nor for what is no address`, async () => {
    const forbidden = await serveForbidden()
    const egress = await egressFor('')
    await inTurns(TARGETS, async (url) => {
      const given = at(url, forbidden)
      const outcome = await fetch(given, egress)
      // An action with an empty input does not run at all.
      const kinds = given.trim() === '' ? ['unrunnable', 'failed', 'retry'] : ['failed', 'retry']
      expect([url, kinds.includes(outcome.kind)]).toEqual([url, true])
    })
    expect(forbidden.accepted()).toBe(0)
  })

  it('to a name that resolves to any of them', async () => {
    const forbidden = await serveForbidden()
    const plain = ADDRESSES.filter((address) => isIPv4(address) || (isIPv6(address) && !/[%.]/.test(address)))
    const names = plain.map((address, n): [string, Zone[string]] => [
      `host${n}.example`,
      isIPv4(address) ? { a: ['93.184.216.34', address] } : { aaaa: [address] },
    ])
    const egress = await egressFor('', Object.fromEntries(names))
    await inTurns(names, async ([name]) => {
      const outcome = await fetch(`http://${name}:${forbidden.port}`, egress)
      expect([name, outcome.kind]).toEqual([name, 'failed'])
    })
    expect(forbidden.accepted()).toBe(0)
  })

  it('behind redirects, refreshes, robots.txt, sitemaps, feeds, links and frames of an allowed site', async () => {
    const forbidden = await serveForbidden()
    const inner = (SITES_OF[id] ?? []).map((url) => at(url, forbidden))
    const [target = ''] = inner
    const elsewhere = inner
      .map(
        (url) => `<a href="${url}about">About</a><a href="${url}">Careers</a><a href="${url}news">News</a>`,
      )
      .join('')
    const sites: Site[] = [
      ...inner.map((location): Site => ({ '/': { status: 302, headers: { location } } })),
      ...inner.map((url): Site => ({ '/': `<meta http-equiv="refresh" content="0;url=${url}">` })),
      { '/robots.txt': { status: 302, headers: { location: target } }, '/': '<p>x</p>' },
      { '/': '<p>x</p>', '/sitemap.xml': { type: 'text/xml', body: mapOf(inner) } },
      {
        '/robots.txt': { type: 'text/plain', body: `Sitemap: ${target}sitemap.xml\n` },
        '/': `<title>x</title><base href="${target}"><link rel="alternate" type="application/rss+xml" href="${target}feed">
          <img src="${target}x.png"><iframe src="${target}"></iframe><script src="${target}x.js"></script>
          <a href="careers">Careers</a>${elsewhere}`,
      },
    ]
    const served = await Promise.all(sites.map(serveSite))
    const egress = await egressFor(served.map(({ port }) => `127.0.0.1:${port}`).join(','))
    await inTurns(served, async ({ origin }) => void (await fetch(origin, egress)))
    expect(served.flatMap(({ requests }) => requests).length).toBeGreaterThanOrEqual(sites.length)
    expect(forbidden.accepted()).toBe(0)
  })
})

describe('SSRF: a name that resolves differently between two calls', () => {
  it.each(FETCHERS)('%s makes 0 connections to the new address', async (_id, fetch) => {
    const site = await serveSite({
      '/': { headers: { connection: 'close' }, body: '<title>x</title><a href="/about">About</a>' },
      '/robots.txt': { type: 'text/plain', headers: { connection: 'close' } },
    })
    let reached = 0
    const inside = createServer((socket) => {
      reached += 1
      socket.destroy()
    })
    await new Promise<void>((resolve, reject) => {
      inside.once('error', reject).listen(site.port, '127.0.0.2', resolve)
    })
    onTestFinished(() => void inside.close())
    let asked = 0
    const egress = createEgress({
      allow: parseEgressAllow(`127.0.0.1:${site.port}`).entries,
      resolve: async () => [asked++ === 0 ? '127.0.0.1' : '127.0.0.2'],
    })
    onTestFinished(egress.close)
    await fetch(`http://rebound.example:${site.port}/`, egress)
    expect(asked).toBeGreaterThan(1)
    expect(site.requests.length).toBeGreaterThan(0)
    expect(reached).toBe(0)
  })
})

const ONE_FIELD = { fields: [{ name: 'what', type: 'string', description: '' }] }

describe('SSRF: other fetchers make 0 connections', () => {
  it.each([
    ['domain_lookup', { domain: 'acme.example' }, 'rdap'],
    ['company_news', { company_name: 'Acme' }, 'hn'],
    ['company_job_openings', { board: 'greenhouse:acme' }, 'greenhouse'],
    ['company_job_openings', { board: 'lever:acme' }, 'lever'],
    ['company_job_openings', { board: 'ashby:acme' }, 'ashby'],
    ['company_job_openings', { board: 'smartrecruiters:acme' }, 'smartrecruiters'],
    ['company_job_openings', { board: 'recruitee:acme' }, 'recruitee'],
  ])('%s %o, when its service redirects inside', async (id, inputs, provider) => {
    const forbidden = await serveForbidden()
    const urls = ADDRESS_URLS.map((url) => at(url, forbidden))
    let turn = 0
    const service = await serveHttp((_request, response) => {
      response.writeHead(302, { location: urls[turn++] ?? '' }).end()
    })
    const egress = await egressFor(`127.0.0.1:${service.port}`)
    await inTurns(urls, async () => {
      await runAction(id, inputs, { egress, urls: { [provider]: service.origin } })
    })
    expect(turn).toBe(urls.length)
    expect(forbidden.accepted()).toBe(0)
  })

  it('verify_email, when a mail server is inside, by name or address', async () => {
    const forbidden = await serveForbidden()
    const plain = ADDRESSES.filter((address) => isIPv4(address) || (isIPv6(address) && !/[%.]/.test(address)))
    const zone = Object.fromEntries(
      plain.flatMap((address, n): [string, Zone[string]][] => [
        [
          `d${n}.example`,
          {
            mx: [
              [10, `mx${n}.example`],
              [20, 'localhost'],
              [30, address],
            ],
          },
        ],
        [`mx${n}.example`, isIPv4(address) ? { a: [address] } : { aaaa: [address] }],
        [`implicit${n}.example`, isIPv4(address) ? { a: [address] } : { aaaa: [address] }],
      ]),
    )
    const egress = await egressFor('', zone, forbidden.port)
    const domains = plain.flatMap((_, n) => [`d${n}.example`, `implicit${n}.example`])
    await inTurns(domains, async (domain) => {
      const outcome = await runAction('verify_email', { email: `ann@${domain}` }, { egress })
      expect([domain, outcome]).toMatchObject([domain, { kind: 'done', outputs: { status: 'unknown' } }])
    })
    expect(forbidden.accepted()).toBe(0)
  })

  it('llm_web_agents, when a search finds what is inside and the model reads all of it', async () => {
    const forbidden = await serveForbidden()
    const names = ADDRESSES.filter((address) => isIPv4(address)).slice(0, 20)
    const zone = Object.fromEntries(names.map((address, n) => [`inside${n}.example`, { a: [address] }]))
    const named = names.map((_, n) => `http://inside${n}.example:${forbidden.port}/`)
    const urls = [...named, ...[...ADDRESS_URLS.slice(0, 60), ...EVERY].map((url) => at(url, forbidden))]
    const engine = await serveHttp((request, response) => {
      const from = Number(new URL(request.url ?? '', 'http://engine').searchParams.get('q'))
      const results = urls.slice(from, from + 8).map((url) => ({ url, title: 'Inside', content: '' }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }))
    })
    const egress = await egressFor(`127.0.0.1:${engine.port}`, zone)
    const starts = urls.flatMap((_, n) => (n % 8 === 0 ? [n] : []))
    let unread = 0
    await inTurns(starts, async (from) => {
      const model = await serveChat((_body, turn) => {
        if (turn === 1) return { calls: [{ name: 'search', input: { query: String(from) } }] }
        const wanted = urls.slice(from, from + 8).slice((turn - 2) * 4, (turn - 1) * 4)
        if (wanted.length === 0) return { says: 'done' }
        return { calls: wanted.map((url) => ({ name: 'read_page', input: { url } })) }
      })
      await runAction(
        'llm_web_agents',
        { select_a_model: 'scripted', mission: 'What is inside?', output_format: ONE_FIELD },
        { egress, urls: { searxng: engine.origin }, models: { LOAM_MODEL_BASE_URL: model.url } },
      )
      const told = model.bodies.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
      unread += told.filter(({ content }) => content?.startsWith('The page could not be read')).length
    })
    expect(unread).toBe(urls.length)
    expect(forbidden.accepted()).toBe(0)
  })

  it('and the listener is reached once it is allowed, so that the tests above could fail', async () => {
    const forbidden = await serveForbidden()
    const egress = await egressFor('127.0.0.0/8', { 'mx.example': { a: ['127.0.0.1'] } }, forbidden.port)
    const outcome = await runAction('scrape_website', { url: `http://127.1:${forbidden.port}/` }, { egress })
    expect(outcome).toMatchObject({ kind: 'done', outputs: { title: 'reached' } })
    const before = forbidden.accepted()
    await runAction('verify_email', { email: 'ann@mx.example' }, { egress })
    expect(forbidden.accepted()).toBe(before + 1)
  })
})
