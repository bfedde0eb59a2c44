import { parse } from 'tldts'

/**
 * Decides which addresses the agent may read. Whatever a page says, it cannot make the agent send known data to a
 * stranger.
 */
export type UrlGuard = {
  /** Allows the addresses that a search found. */
  addResults(urls: readonly string[]): void
  /** Allows the links that are visible on a page that was read. */
  addLinks(urls: readonly string[]): void
  check(url: string): { ok: true; url: string } | { ok: false; reason: string }
}

/**
 * Matches the usual path segments of sites. On a host that the task does not name, other paths could be made up to carry
 * data.
 */
const USUAL_SEGMENT =
  /^(about|about-us|aboutus|company|team|our-team|leadership|people|management|contact|contact-us|kontakt|imprint|impressum|legal|privacy|terms|pricing|prices|plans|products?|services?|solutions?|platform|features|customers|case-studies|careers?|jobs|join-us|news|newsroom|press|media|blog|investors?|investor-relations|locations?|offices|history|faq|help|support|partners|industries|en|de|fr|es|it|nl|pt|ueber-uns|unternehmen|karriere|quienes-somos|qui-sommes-nous|index\.html?|sitemap\.xml)$/i
const MAX_SEGMENTS = 3
const MAX_URL = 2000

/**
 * Creates the guard for a task. A page can try to make the agent call an address that carries what the agent knows. So an
 * address may be read only if the caller named its domain, a search found it, or it stands unchanged on a page that was
 * read. On hosts that a search found, pages with usual names may be read too. Every other address counts as made up.
 */
export function createUrlGuard(words: string, allowedDomains: readonly string[]): UrlGuard {
  const namedDomains = domainsIn(words)
  const exact = new Set<string>()
  const foundHosts = new Set<string>()
  const isAllowed = (host: string) =>
    allowedDomains.length === 0 ||
    allowedDomains.some((domain) => host === domain || host.endsWith(`.${domain}`))

  return {
    addResults(urls) {
      for (const address of urls) {
        const url = readUrl(address)
        if (url === null) continue
        exact.add(url.href)
        foundHosts.add(url.host)
      }
    },
    addLinks(urls) {
      for (const address of urls) {
        const url = readUrl(address)
        if (url !== null) exact.add(url.href)
      }
    },
    check(address) {
      const url = readUrl(address)
      if (url === null) return { ok: false, reason: 'it is not an http or https address' }
      if (!isAllowed(url.hostname)) {
        return { ok: false, reason: `only pages of ${allowedDomains.join(', ')} may be read` }
      }
      if (namedDomains.has(siteOf(url)) || exact.has(url.href)) return { ok: true, url: url.href }
      if (foundHosts.has(url.host) && isUsual(url)) return { ok: true, url: url.href }
      return { ok: false, reason: MADE_UP }
    },
  }
}

const MADE_UP =
  'no search found this address, no page that was read links to it, and the task does not name its domain. Search for it first'

function isUsual({ pathname, search }: URL): boolean {
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return (
    search === '' && segments.length <= MAX_SEGMENTS && segments.every((part) => USUAL_SEGMENT.test(part))
  )
}

function readUrl(address: string): URL | null {
  const url = address.length > MAX_URL ? null : URL.parse(address.trim())
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return null
  url.hash = ''
  return url
}

/** Returns the registrable domain, or the host and port if there is none (an IP address, a name in a local network). */
export function siteOf({ hostname, host }: URL): string {
  return parse(hostname, { allowPrivateDomains: true }).domain ?? host
}

/** The length of the part of a text that is searched for domains. */
const MAX_WORDS = 100_000
/** The length of the longest host name. */
const MAX_HOST = 253
/**
 * Matches words that may name a domain. Each branch is greedy and never backtracks, so the time grows with the length of
 * the text only.
 */
const CANDIDATE = /https?:\/\/[\p{L}\p{N}.-]+(?::\d+)?|https?:\/\/[^\s"'<>]+|[\p{L}\p{N}.-]+(?::\d+)?/giu

/** Returns the domains that a text names: in web addresses, in email addresses, or bare. */
function domainsIn(text: string): Set<string> {
  const words = text.slice(0, MAX_WORDS)
  const domains = new Set<string>()
  for (const { 0: found, index } of words.matchAll(CANDIDATE)) {
    const isAddress = /^https?:/i.test(found)
    for (const name of isAddress ? [trimDots(found)] : namesIn(found)) {
      const url = URL.parse(isAddress ? name : `http://${name}`)
      const { isIcann, isIp } = parse(url?.hostname ?? '', { allowPrivateDomains: true })
      const isMailed = words[index - 1] === '@' && found.startsWith(name)
      // `Node.js` and `e.g.` look like domains. A bare word only counts if its ending is a registered one.
      if (url !== null && (isAddress || isMailed || isIcann === true || isIp === true))
        domains.add(siteOf(url))
    }
  }
  return domains
}

/** Returns the names in a word that have a dot inside, without the dots of the sentence around them. */
function namesIn(word: string): string[] {
  return word.split('..').flatMap((part) => {
    const name = trimDots(part)
    return name.length <= MAX_HOST && /.\.../.test(name) ? [name] : []
  })
}

function trimDots(text: string): string {
  let [from, to] = [0, text.length]
  while (text[from] === '.') from += 1
  while (to > from && text[to - 1] === '.') to -= 1
  return text.slice(from, to)
}
