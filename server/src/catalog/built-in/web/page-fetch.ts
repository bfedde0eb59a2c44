import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Egress } from '../../../lib/egress/egress.ts'
import type { EgressFailureKind } from '../../../lib/egress/failures.ts'
import { pause } from '../../../lib/timing/turns.ts'
import { readRetryAfter } from '../../http/reply.ts'
import { failed, type Outcome, retry } from '../../outcome.ts'
import { decodeText } from './charset.ts'
import { robotsOf, USER_AGENT } from './robots.ts'

/** A page, feed, sitemap or other document that was fetched. */
export type Page = {
  /** The address of the page, after redirects. */
  url: string
  text: string
  headers: Record<string, string[]>
  /** The `Set-Cookie` headers of this reply and of the redirects before it. */
  cookies: string[]
  type: 'html' | 'xml' | 'text' | 'pdf'
  /** The body as it was sent, decompressed. It is the only form of a PDF here. */
  bytes: Uint8Array
}

export type PageFailure = {
  ok: false
  kind: EgressFailureKind | 'robots' | 'status' | 'content_type'
  status?: number
  outcome: Outcome<never>
}
export type PageResult = { ok: true; page: Page } | PageFailure

export type Fetching = {
  egress: Egress
  signal: AbortSignal
  now: () => Date
  /** The organisation that reads, for resources that organisations use in turn. */
  owner?: string
}

/** Returns the same context with another signal. The context of a cell has getters, which a spread would lose. */
export function withSignal(context: Fetching, signal: AbortSignal): Fetching {
  const { egress, owner } = context
  return { egress, signal, now: () => context.now(), ...(owner !== undefined && { owner }) }
}

/**
 * The kind of document to read: a web page, XML (feeds and sitemaps, which servers send under many types), or any
 * document that people read.
 */
type Kind = 'page' | 'xml' | 'document'

const MAX_HOPS = 8
const MAX_BYTES: Record<Kind, number> = { page: 3_000_000, xml: 3_000_000, document: 10_000_000 }
const TIMEOUT_MS = 20_000
const MAX_RETRY_AFTER_MS = 3_600_000
const HEADERS = { 'user-agent': USER_AGENT, 'accept-language': 'en,*;q=0.5' }
const ACCEPT: Record<Kind, string> = {
  page: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
  xml: 'application/rss+xml,application/atom+xml,application/xml;q=0.9,*/*;q=0.1',
  document: 'text/html,application/xhtml+xml;q=0.9,application/pdf;q=0.8,text/plain;q=0.7,*/*;q=0.1',
}

/**
 * Reads one page if its site allows programs to read it. Each redirect is checked again with robots.txt and by egress.
 */
export async function fetchPage(
  context: Fetching,
  address: string,
  kind: Kind = 'page',
): Promise<PageResult> {
  const cookies: string[] = []
  let url = withoutHash(address)
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const blocked = await askRobots(context, url)
    if (blocked !== null) return blocked
    const reply = await context.egress.fetch({
      url,
      headers: { ...HEADERS, accept: ACCEPT[kind] },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES[kind],
      redirects: 'return',
      signal: context.signal,
    })
    if (!reply.ok) return failure(reply.kind, reply.retryable ? retry(reply.message) : failed(reply.message))
    cookies.push(...(reply.headers['set-cookie'] ?? []))
    if (reply.location !== null) {
      url = withoutHash(reply.location)
      continue
    }
    if (reply.status >= 300) return statusFailure(url, reply.status, reply.header('retry-after'), context)
    const type = (reply.header('content-type') ?? '').toLowerCase()
    const bytes = kind === 'xml' ? await unpack(reply.body) : reply.body
    const text = isPdf(bytes) ? '' : (await decodeText(bytes, type)).text
    await pause()
    const found = typeOf(kind, type, text, bytes)
    if (found === null) {
      const what = type.split(';', 1)[0]?.trim() || 'of an unknown type'
      return failure('content_type', failed(`${short(url)} is ${what}, not ${NAMES[kind]}`))
    }
    const refresh = found === 'html' ? refreshOf(text, url) : null
    if (refresh === null) {
      return { ok: true, page: { url, text, headers: reply.headers, cookies, type: found, bytes } }
    }
    url = refresh
  }
  return failure('too_many_redirects', failed(`${short(address)} redirects more than ${MAX_HOPS} times`))
}

const NAMES: Record<Kind, string> = {
  page: 'a web page',
  xml: 'a feed or sitemap',
  document: 'a web page, a text or a PDF',
}

/**
 * Reads the home page: by https, by http if https cannot be reached, and as `www` if the bare domain cannot be reached.
 */
export async function fetchHome(context: Fetching, homes: readonly string[]): Promise<PageResult> {
  let first: PageFailure | undefined
  const deadHosts = new Set<string>()
  for (const home of homes) {
    const hostname = URL.parse(home)?.hostname ?? ''
    if (deadHosts.has(hostname)) continue
    const result = await fetchPage(context, home)
    if (result.ok || !UNREACHABLE.has(result.kind)) return result
    if (result.kind === 'dns') deadHosts.add(hostname)
    first ??= result
  }
  return first ?? failure('invalid_url', failed('there is no address to read'))
}

const UNREACHABLE: ReadonlySet<PageFailure['kind']> = new Set(['dns', 'connect', 'tls', 'reset', 'timeout'])

async function askRobots(context: Fetching, url: string): Promise<PageFailure | null> {
  const origin = URL.parse(url)?.origin
  if (origin === undefined || origin === 'null')
    return failure('invalid_url', failed(`${short(url)} is not an http or https address`))
  const robots = await robotsOf(context.egress, origin)
  if (robots.kind === 'unknown') {
    const { failure: network, message, afterMs } = robots
    if (network !== undefined && !network.retryable) return failure(network.kind, failed(message))
    return failure(network?.kind ?? 'robots', retry(`${message}; robots.txt has to be read first`, afterMs))
  }
  if (robots.allows(url)) return null
  return failure('robots', failed(`${short(url)} may not be read by programs, says ${origin}/robots.txt`))
}

function statusFailure(url: string, status: number, after: string | undefined, context: Fetching) {
  const message = `${short(url)} answers HTTP ${status}`
  if (status === 429 || status >= 500) {
    const afterMs = readRetryAfter(after, context.now())
    const soon = afterMs === undefined ? undefined : Math.min(afterMs, MAX_RETRY_AFTER_MS)
    return { ...failure('status', retry(message, soon)), status }
  }
  const why =
    status === 404 || status === 410
      ? ': there is no such page'
      : status === 401 || status === 403
        ? ': the site does not let this program read it'
        : ''
  return { ...failure('status', failed(message + why)), status }
}

function failure(kind: PageFailure['kind'], outcome: Outcome<never>): PageFailure {
  return { ok: false, kind, outcome }
}

/** Returns the type of a reply, or null if it must not be read as this kind. */
function typeOf(kind: Kind, type: string, text: string, bytes: Uint8Array): Page['type'] | null {
  if (kind === 'xml') {
    return /^\s*<(\?xml|rss|feed|rdf:RDF|urlset|sitemapindex)\b/i.test(text.slice(0, 2000)) ? 'xml' : null
  }
  if (isPdf(bytes)) return kind === 'document' ? 'pdf' : null
  if (/^(text\/html|application\/xhtml\+xml)\b/.test(type)) return 'html'
  if (type === '' && /^\s*<(!doctype|html|head|body|!--)/i.test(text.slice(0, 2000))) return 'html'
  return kind === 'document' && /^text\/(plain|markdown|csv)\b/.test(type) ? 'text' : null
}

const gunzipLater = promisify(gunzip)

const PDF = Buffer.from('%PDF-')

function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes(PDF)
}

/**
 * Decompresses a sitemap, since many are stored as compressed files. If that fails, the bytes stay as they are and are no
 * XML.
 */
async function unpack(body: Uint8Array): Promise<Uint8Array> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body
  try {
    return await gunzipLater(body, { maxOutputLength: MAX_BYTES.xml })
  } catch {
    return body
  }
}

/**
 * Returns the target of `<meta http-equiv="refresh" content="0; url=...">`, a redirect by pages whose servers cannot send
 * one.
 */
function refreshOf(html: string, url: string): string | null {
  const head = withoutHidden(html.slice(0, 20_000))
  const tag = /<meta\b(?=[^>]{0,300}http-equiv\s*=\s*["']?refresh)[^>]{1,1000}>/i.exec(head)?.[0] ?? ''
  const [, delay, target] =
    /content\s*=\s*["']?\s*(\d{1,4})\s*[;,]\s*(?:url\s*=)?\s*['"]?([^"'>\s]+)/i.exec(tag) ?? []
  const next = target === undefined ? null : URL.parse(target.replaceAll('&amp;', '&'), url)
  if (next === null || Number(delay) > 5 || !/^https?:$/.test(next.protocol)) return null
  const address = withoutHash(next.href)
  return address === url ? null : address
}

/** Removes scripts and comments. What is not closed stays. */
function withoutHidden(head: string): string {
  const lower = head.toLowerCase()
  // Some letters are longer in lower case.
  if (lower.length !== head.length) return head
  let [kept, end] = ['', 0]
  const unclosed = new Set<string>()
  for (const { 0: start, index } of lower.matchAll(/<noscript\b|<script\b|<!--/g)) {
    const close = CLOSES[start]
    if (index < end || close === undefined || unclosed.has(close)) continue
    const at = lower.indexOf(close, index + start.length)
    if (at < 0) {
      unclosed.add(close)
      continue
    }
    kept += head.slice(end, index)
    end = at + close.length
  }
  return kept + head.slice(end)
}

const CLOSES: Readonly<Record<string, string>> = {
  '<noscript': '</noscript>',
  '<script': '</script>',
  '<!--': '-->',
}

function withoutHash(address: string): string {
  return address.replace(/#.*$/s, '')
}

/** Shortens an address for a message and removes its query, which may hold a secret. */
function short(url: string): string {
  return url.replace(/\?.*$/s, '?...').slice(0, 200)
}
