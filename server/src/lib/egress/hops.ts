import { EgressFault } from './failures.ts'
import type { EgressRequest } from './request.ts'
import { type SentHeaders, valuesOf } from './response.ts'

/** One request to one origin. A redirect creates the next hop. */
export type Hop = {
  url: URL
  /** The origin of the URL. It is stored because URL computes it again at each access. */
  origin: string
  method: string
  /**
   * Lower-case names, each followed by its value. undici accepts headers in this form, which needs no object
   * for each header.
   */
  headers: string[]
  body: string | Uint8Array | null
}

const OURS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/**
 * The headers that are kept when a redirect leads to another origin. Any other header of a caller may be a
 * credential and is sent only to the origin that it was meant for.
 */
const KEPT_ACROSS_ORIGINS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'if-none-match',
  'range',
  'user-agent',
])
const DESCRIBES_BODY: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
])
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null)
    throw new EgressFault('invalid_url', 'The URL is not valid. Give an absolute http or https URL.')
  const fault = describeUnusable(url)
  if (fault !== null) throw new EgressFault('invalid_url', `The URL ${fault}`)
  return url
}

/** Checks a caller's request. Throws a fault if it cannot be sent. */
export function firstHop(
  { url, origin }: Pick<Hop, 'url' | 'origin'>,
  request: EgressRequest,
  defaults: readonly string[],
): Hop {
  const method = (request.method ?? 'GET').toUpperCase()
  if (!TOKEN.test(method) || method === 'CONNECT' || method === 'TRACE') {
    throw new EgressFault('protocol', 'the request has a method that cannot be sent.')
  }
  const headers = headersOf(request.headers, defaults)
  return { url, origin, method, headers, body: request.body ?? null }
}

const known = new WeakMap<object, { defaults: readonly string[]; headers: string[] }>()

function headersOf(given: EgressRequest['headers'], defaults: readonly string[]): string[] {
  const kept = given === undefined ? undefined : known.get(given)
  if (kept?.defaults === defaults) return kept.headers
  const headers = [...defaults]
  if (given === undefined) return headers
  addHeaders(headers, given)
  if (Object.isFrozen(given)) known.set(given, { defaults, headers })
  return headers
}

/** Adds the given headers. A header replaces the default with the same name. */
function addHeaders(headers: string[], given: Readonly<Record<string, string>>): void {
  const defaults = headers.length
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (!TOKEN.test(name)) throw new EgressFault('protocol', 'a request header has a name that is not valid.')
    if (OURS.has(key))
      throw new EgressFault('protocol', `the request header ${key} cannot be set by a caller.`)
    if (seen.has(key)) throw new EgressFault('protocol', `the request header ${key} is given twice.`)
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new EgressFault(
        'protocol',
        `the request header ${key} has characters that a header cannot carry.`,
      )
    }
    seen.add(key)
    let at = 0
    while (at < defaults && headers[at] !== key) at += 2
    if (at < defaults) headers[at + 1] = value
    else headers.push(key, value)
  }
}

/** Returns the redirect location as it was sent, or null if the response is not a redirect. */
export function locationOf(status: number, headers: SentHeaders): string | null {
  if (!REDIRECTS.has(status)) return null
  const locations = valuesOf(headers, 'location')
  if (new Set(locations).size > 1)
    throw new EgressFault('protocol', 'the redirect names more than one location.')
  return locations[0] ?? null
}

/**
 * Follows a redirect by the rules of the fetch standard. Drops headers that are meant only for the current
 * origin.
 */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  // undici decodes header bytes as Latin-1, while servers write paths in UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), hop.url.href)
  if (url === null) throw new EgressFault('protocol', 'the redirect has a location that is not valid.')
  const fault = describeUnusable(url)
  if (fault !== null) throw new EgressFault('protocol', `the location of the redirect ${fault}`)
  const toGet =
    status === 303 ? hop.method !== 'GET' && hop.method !== 'HEAD' : status < 303 && hop.method === 'POST'
  const body = toGet ? null : hop.body
  if (body !== null && hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new EgressFault('protocol', 'the redirect would send the body again without encryption.')
  }
  const { origin } = url
  const crosses = origin !== hop.origin
  const isKept = (name: string) =>
    !(crosses && !KEPT_ACROSS_ORIGINS.has(name)) && !(toGet && DESCRIBES_BODY.has(name))
  // A value is kept or dropped together with its name.
  const headers = hop.headers.filter((_, at) => isKept(hop.headers[at - (at % 2)] ?? ''))
  return { url, origin, method: toGet ? 'GET' : hop.method, headers, body }
}

function describeUnusable(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is neither http nor https.'
  if (url.username !== '' || url.password !== '') return 'holds a user name or password; send it as a header.'
  return null
}
