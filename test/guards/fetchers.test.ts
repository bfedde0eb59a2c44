import { globSync, readFileSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { BOUNDS } from '#server/catalog/built-in/web/browser/browser.ts'
import { openProxy } from '#server/catalog/built-in/web/browser/proxy.ts'
import { createKey, type ProviderKeys } from '#server/catalog/provider/access.ts'
import type { Provider } from '#server/catalog/provider/provider.ts'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import { useActions } from '#server/catalog/testing/run-action.ts'
import { parseEgressAllow } from '#server/lib/egress/addresses.ts'
import { createEgress, type Egress } from '#server/lib/egress/egress.ts'
import { AppError } from '#server/lib/errors.ts'
import { newId } from '#server/lib/ids.ts'
import { budgetBinding } from '#server/lib/security/bindings.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { postAlert } from '#server/money/budget-alerts.ts'
import type { SourceServices } from '#server/sources/reach.ts'
import { makeServices, pullSource } from '#server/sources/testing/pull-source.ts'
import { type LoopbackServer, serveHttp, serveRaw } from '../doubles/loopback-server.ts'
import { serveNames, type Zone } from '../doubles/name-server.ts'
import { REFUSED_ADDRESSES } from './ssrf-addresses.ts'
import { INVALID_URLS, REFUSED_URLS } from './ssrf-urls.ts'

/** Calls an address that a caller gave, as far as the code under test ever does. */
type Fetcher = (url: string, egress: Egress) => Promise<unknown>

const runAction = useActions()
const keysOf = (fields: Record<string, string>): ProviderKeys => ({
  platform: () => null,
  own: async () => createKey('own', fields),
})

/** Accepts a refusal before the call as a refusal. */
async function refusing(work: () => Promise<unknown>): Promise<void> {
  await work().catch((cause: unknown) => {
    if (!(cause instanceof AppError)) throw cause
  })
}

const servicesOf = new WeakMap<Egress, SourceServices>()

const source =
  (
    slug: string,
    bodyOf: (url: string) => Record<string, unknown>,
    fieldsOf: (url: string) => Record<string, string> | null,
  ): Fetcher =>
  (url, egress) => {
    const services = servicesOf.get(egress) ?? { ...makeServices(), egress }
    servicesOf.set(egress, services)
    return refusing(() => pullSource(slug, bodyOf(url), { fields: fieldsOf(url), services }))
  }

/** Returns the same address with the scheme of another kind of server. */
const spoken = (start: string, url: string) => url.trim().replace(/^https?:[/\\]*/i, start)

const MAIL = { to: 'ann@example.com', subject: 'Hello', body: 'Hello' }

/**
 * Fetches through the proxy of the browser: the pages that it renders give it any address, and it asks its
 * proxy for it.
 */
const throughProxy =
  (method: 'GET' | 'CONNECT'): Fetcher =>
  async (url, egress) => {
    const target = URL.parse(url)
    if (target === null || !/^https?:$/.test(target.protocol)) return
    const { port, close } = await openProxy(egress, new AbortController().signal, BOUNDS)
    const path = method === 'GET' ? target.href : `${target.hostname}:${target.port || '80'}`
    const asked = openRequest({ host: '127.0.0.1', port, agent: false, method, path })
    await new Promise<void>((resolve) => {
      asked.once('response', (reply) => resolve(void reply.resume()))
      asked.once('connect', (_reply, socket) => resolve(void socket.destroy()))
      // A connection that the proxy breaks is one form of refusal.
      asked.once('error', () => resolve())
      asked.end()
    })
    await close()
  }

/**
 * Calls a provider with each kind of connection that it accepts. Every field of the connection is the
 * address, with a plain secret too.
 */
async function askWith(provider: Provider, url: string, egress: Egress): Promise<void> {
  const { fields, probe } = provider
  const context = { egress, signal: new AbortController().signal, now: () => new Date() }
  for (const set of fields.sets.length === 0 ? [[]] : fields.sets) {
    const given = Object.fromEntries([...set, ...fields.others].map((name) => [name, url]))
    const plain = set.includes('secret') ? [{ ...given, secret: 'a-key' }] : []
    for (const each of [given, ...plain]) {
      await provider.request(context, createKey('own', each), probe ?? { path: '/' }, z.unknown())
    }
  }
}

const providers = (await loadProviders()).filter(({ isBuiltIn }) => !isBuiltIn)
/** The providers whose connections contain an address. The test below finds them by trying all providers. */
const PLACED_BY_CONNECTION = ['openai', 'pipedrive', 's3', 'salesforce', 'snowflake', 'typeform']

const sealer = createSealer('a secret for tests only')
const BUDGET = { org_id: newId(), budget_id: newId() }

/**
 * All fetchers that call addresses of callers, except the readers of pages (fetchers-ssrf.test.ts) and mail
 * servers.
 */
const FETCHERS: Record<string, Fetcher> = {
  'alerts of a budget': (webhook_url, egress) =>
    postAlert(
      { egress, sealer },
      {
        ...BUDGET,
        message_id: newId(),
        tries: 1,
        email: null,
        webhook_url,
        secret_sealed: sealer.seal('whsec_c2VjcmV0', budgetBinding(BUDGET)),
        name: 'All',
        scope: 'organisation',
        subject: null,
        period: 'day',
        period_start: new Date(),
        threshold: 50,
        limit_millis: 2000,
        spent_millis: 1000,
        mode: 'stop',
        at: new Date(),
        created_at: new Date(),
        emails: [],
        thresholds: [50],
        trigger: null,
      },
      AbortSignal.timeout(60_000),
    ),
  http_api_call: (endpoint, egress) => runAction('http_api_call', { method: 'GET', endpoint }, { egress }),
  send_webhook: (url, egress) => runAction('send_webhook', { url, payload: '{}' }, { egress }),
  send_email: (url, egress) =>
    runAction('send_email', MAIL, {
      egress,
      keys: keysOf({ url: spoken('smtp://', url), from: 'a@example.com' }),
    }),
  ai_generate: (base_url, egress) => {
    const inputs = { model: 'any', prompt: 'Hello', connection: 'mine' }
    return runAction('ai_generate', inputs, { egress, keys: keysOf({ secret: 's', base_url }) })
  },
  import_from_api: source(
    'import_from_api',
    (url) => ({ url }),
    () => null,
  ),
  import_from_csv_url: source(
    'import_from_csv_url',
    (url) => ({ url }),
    () => null,
  ),
  extract_from_website: source(
    'extract_from_website',
    (url) => ({ url }),
    () => null,
  ),
  import_from_s3: source(
    'import_from_s3',
    () => ({ bucket: 'files' }),
    (endpoint) => ({ secret: 's', access_key_id: 'a', endpoint }),
  ),
  import_from_postgres: source(
    'import_from_postgres',
    () => ({ table: 'people', key_column: 'id' }),
    (url) => ({ secret: `${spoken('postgres://u:p@', url)}people` }),
  ),
  'pages that a browser draws': throughProxy('GET'),
  'secure pages that a browser draws': throughProxy('CONNECT'),
  ...Object.fromEntries(
    providers
      .filter(({ id }) => PLACED_BY_CONNECTION.includes(id))
      .map((provider) => [
        `a connection to ${provider.id}`,
        (url: string, egress: Egress) => askWith(provider, url, egress),
      ]),
  ),
}

const ADDRESSES = Object.values(REFUSED_ADDRESSES).flat()
const urlOf = (address: string) => `http://${isIPv6(address) ? `[${address}]` : address}:PORT/`
// A zone cannot be written in a URL.
const ADDRESS_URLS = ADDRESSES.filter((address) => !address.includes('%')).map(urlOf)
const SPELLINGS = Object.values(REFUSED_URLS).flat()
const TARGETS = [...ADDRESS_URLS, ...SPELLINGS, ...INVALID_URLS]

const interfaces = Object.values(networkInterfaces()).flat()
const EVERY_ADDRESS = interfaces.some((one) => one?.family === 'IPv6') ? '::' : '0.0.0.0'

/** Starts a server on every address of this machine. Nobody may reach it. */
const serveForbidden = () =>
  serveRaw((socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'), EVERY_ADDRESS)

async function egressFor(allow: string, zone: Zone = {}): Promise<Egress> {
  const { server } = await serveNames(zone)
  const egress = createEgress({ allow: parseEgressAllow(allow).entries, servers: [server] })
  onTestFinished(egress.close)
  return egress
}

/** Runs some items at a time: name servers on loopback drop requests that arrive all at once. */
async function inTurns<Item>(
  items: readonly Item[],
  run: (item: Item, n: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < items.length; from += 20) {
    await Promise.all(items.slice(from, from + 20).map((item, n) => run(item, from + n)))
  }
}

// One address of each group is enough here: names are resolved and redirects followed in one place, which is
// tested with all of them (ssrf.test.ts).
const ONE_OF_EACH = Object.values(REFUSED_ADDRESSES).flatMap(
  (group) => group.find((address) => isIPv4(address) || !/[%.]/.test(address)) ?? [],
)
const REDIRECTED = [
  ...ONE_OF_EACH.map(urlOf),
  ...Object.values(REFUSED_URLS).flatMap(
    (group) => group.find((url) => /^http:\/\/[\w.:[\]]+\/$/.test(url)) ?? [],
  ),
]

const at = (url: string, { port }: LoopbackServer) => url.replace('PORT', String(port))

describe.each(Object.entries(FETCHERS))('SSRF: %s makes 0 connections', (_name, fetch) => {
  it(`to any of ${TARGETS.length} addresses that are not public, nor for what is no address`, async () => {
    const forbidden = await serveForbidden()
    const egress = await egressFor('')
    await inTurns(TARGETS, (url) => fetch(at(url, forbidden), egress))
    expect(forbidden.accepted()).toBe(0)
  })

  it('to a name that resolves to any of them', async () => {
    const forbidden = await serveForbidden()
    const names = ONE_OF_EACH.map((address, n): [string, Zone[string]] => [
      `host${n}.example`,
      isIPv4(address) ? { a: ['93.184.216.34', address] } : { aaaa: [address] },
    ])
    const egress = await egressFor('', Object.fromEntries(names))
    await inTurns(names, ([name]) => fetch(`http://${name}:${forbidden.port}/`, egress))
    expect(forbidden.accepted()).toBe(0)
  })

  it('and reaches the listener once an entry allows it, so that these tests could fail', async () => {
    const forbidden = await serveForbidden()
    const egress = await egressFor('127.0.0.0/8')
    await fetch(`http://127.0.0.1:${forbidden.port}/`, egress)
    expect(forbidden.accepted()).toBeGreaterThan(0)
  })
})

/**
 * The fetchers that follow redirects. The others do not use HTTP, or receive the redirect and decide
 * themselves.
 */
const FOLLOWERS = Object.entries(FETCHERS).filter(
  ([name]) => !/^(send_email|import_from_postgres)$|pages that a browser draws$/.test(name),
)

describe.each(FOLLOWERS)('SSRF: %s makes 0 connections', (_name, fetch) => {
  it('behind redirects of a server that is allowed', async () => {
    const forbidden = await serveForbidden()
    let turn = 0
    const outer = await serveHttp((request, response) => {
      if (request.url === '/robots.txt') return void response.writeHead(404).end()
      const location = at(REDIRECTED[turn++ % REDIRECTED.length] ?? '', forbidden)
      response.writeHead(302, { location }).end()
    })
    const egress = await egressFor(`127.0.0.1:${outer.port}`)
    await inTurns(REDIRECTED, (_, n) => fetch(`http://127.0.0.1:${outer.port}/${n}`, egress))
    expect(turn).toBeGreaterThanOrEqual(REDIRECTED.length)
    expect(forbidden.accepted()).toBe(0)
  })
})

it('every provider whose connections contain an address is in the table', async () => {
  const server = await serveForbidden()
  const { entries } = parseEgressAllow('127.0.0.0/8')
  const egress = createEgress({ allow: entries, resolve: async () => [] })
  onTestFinished(egress.close)
  const reached: string[] = []
  for (const provider of providers) {
    const before = server.accepted()
    await askWith(provider, `http://127.0.0.1:${server.port}`, egress)
    if (server.accepted() > before) reached.push(provider.id)
  }
  expect(reached.toSorted()).toEqual(PLACED_BY_CONNECTION)
})

/**
 * The files that open connections, each with the fetcher or test that checks it against the whole list, or
 * the reason why no caller's address gets there.
 */
const HELD_BY: Record<string, string> = {
  'catalog/actions/http_api_call.ts': 'http_api_call',
  'catalog/actions/send_webhook.ts': 'send_webhook',
  'catalog/built-in/boards/board.ts': 'fetchers-ssrf.test.ts',
  'catalog/built-in/domains/rdap.ts': 'fetchers-ssrf.test.ts',
  'catalog/built-in/mail/delivery.ts': 'send_email',
  'catalog/built-in/mail/smtp-probe.ts': 'fetchers-ssrf.test.ts',
  'catalog/built-in/news/hacker-news.ts': 'fetchers-ssrf.test.ts',
  'catalog/built-in/web/browser/chromium.ts': 'reach.test.ts',
  'catalog/built-in/web/browser/proxy.ts': 'pages that a browser draws',
  'catalog/built-in/web/page-fetch.ts': 'fetchers-ssrf.test.ts',
  'catalog/built-in/web/robots.ts': 'fetchers-ssrf.test.ts',
  'catalog/models/model-fetch.ts': 'ai_generate',
  'catalog/provider/auth.ts': 'a connection to salesforce',
  'catalog/provider/provider.ts': 'a connection to snowflake',
  'catalog/providers/postgres/connection.ts': 'import_from_postgres',
  'catalog/providers/s3/provider.ts': 'import_from_s3',
  'files/storage/s3.ts': 'the operator says where (LOAM_S3_ENDPOINT)',
  'lib/confined-process.ts': 'readers.test.ts',
  'lib/egress/connector.ts': 'ssrf.test.ts',
  'lib/egress/egress.ts': 'ssrf.test.ts',
  'lib/egress/failures.ts': 'ssrf.test.ts',
  'lib/egress/records.ts': 'the operator says which name servers (LOAM_DNS_SERVERS)',
  'lib/egress/resolver.ts': 'the operator says which name servers (LOAM_DNS_SERVERS)',
  'lib/egress/socket.ts': 'socket.test.ts',
  'lib/mail.ts': 'the operator says where (LOAM_SMTP_URL)',
  'money/budget-alerts.ts': 'alerts of a budget',
  'sources/systems/http/csv-file.ts': 'import_from_csv_url',
  'sources/systems/http/items.ts': 'import_from_api',
}

const OPENS_CONNECTIONS = new RegExp(
  [
    String.raw`egress\.(fetch|connect)\(`,
    String.raw`(?<![.\w])fetch\(`,
    String.raw`\b(createTransport|S3Client|buildConnector|Resolver|WebSocket|EventSource)\(`,
    String.raw`import (?!type)[^;\n]*\b(request|get|connect|createConnection|Socket)\b[^;\n]* from 'node:(http|https|http2|net|tls|dgram)'`,
    String.raw`import (?!type)[^;\n]* from '(undici|axios|got|playwright-core)'`,
    String.raw`\bchromium\.(launch|connect)`,
  ].join('|'),
)

it('every file that opens connections is in the list: add a new fetcher here', () => {
  const root = new URL('../../server/src/', import.meta.url).pathname
  const files = globSync('**/*.ts', { cwd: root }).filter(
    (file) => !/\.test\.ts$|\/testing\/|^database\//.test(file),
  )
  const opening = files.filter((file) => OPENS_CONNECTIONS.test(readFileSync(`${root}${file}`, 'utf8')))
  expect(opening.toSorted()).toEqual(Object.keys(HELD_BY).toSorted())
  for (const [file, holder] of Object.entries(HELD_BY)) {
    const isHeld = Object.hasOwn(FETCHERS, holder) || /\.test\.ts$|^the operator says/.test(holder)
    expect([file, isHeld]).toEqual([file, true])
  }
})
