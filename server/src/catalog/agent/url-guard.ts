import { parse } from 'tldts'

/** Which addresses the agent may read. Whatever a page says, nothing that is known here can be sent to a stranger by it. */
export type UrlGuard = {
  /** Addresses that a search found. */
  addResults(urls: readonly string[]): void
  /** Links that stand visibly on a page that was read. */
  addLinks(urls: readonly string[]): void
  check(url: string): { ok: true; url: string } | { ok: false; reason: string }
}

/** Segments by which sites name their pages: on a host that nobody named, no other path can be made up. */
const USUAL_SEGMENT =
  /^(about|about-us|aboutus|company|team|our-team|leadership|people|management|contact|contact-us|kontakt|imprint|impressum|legal|privacy|terms|pricing|prices|plans|products?|services?|solutions?|platform|features|customers|case-studies|careers?|jobs|join-us|news|newsroom|press|media|blog|investors?|investor-relations|locations?|offices|history|faq|help|support|partners|industries|en|de|fr|es|it|nl|pt|ueber-uns|unternehmen|karriere|quienes-somos|qui-sommes-nous|index\.html?|sitemap\.xml)$/i
const MAX_SEGMENTS = 3
const MAX_URL = 2000

/**
 * A page can try to make the agent call an address that carries what the agent knows. So an address is read when the caller
 * named its domain, when a search found it, or when it stands on a page as it is; on hosts that a search found, also pages
 * with usual names. Everything else would be made up.
 */
export function createUrlGuard(words: string, allowedDomains: readonly string[]): UrlGuard {
  const named = domainsIn(words)
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
      if (named.has(siteOf(url)) || exact.has(url.href)) return { ok: true, url: url.href }
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

/** The registrable domain; the host and port where it has none (an address, a name of a local network). */
export function siteOf({ hostname, host }: URL): string {
  return parse(hostname, { allowPrivateDomains: true }).domain ?? host
}

/** Of a text, that is looked through for domains. */
const MAX_WORDS = 100_000
/** Longest name of a host. */
const MAX_HOST = 253
/** Every branch takes what it can and never goes back: a text without end takes no longer than its length. */
const CANDIDATE = /https?:\/\/[\p{L}\p{N}.-]+(?::\d+)?|https?:\/\/[^\s"'<>]+|[\p{L}\p{N}.-]+(?::\d+)?/giu

/** Domains that a text names: in addresses, in mail addresses, or bare. */
function domainsIn(text: string): Set<string> {
  const words = text.slice(0, MAX_WORDS)
  const domains = new Set<string>()
  for (const { 0: found, index } of words.matchAll(CANDIDATE)) {
    const isAddress = /^https?:/i.test(found)
    for (const name of isAddress ? [trimDots(found)] : namesIn(found)) {
      const url = URL.parse(isAddress ? name : `http://${name}`)
      const { isIcann, isIp } = parse(url?.hostname ?? '', { allowPrivateDomains: true })
      const isMailed = words[index - 1] === '@' && found.startsWith(name)
      // `Node.js` and `e.g.` look like domains; a bare word counts when its ending is one that is given out.
      if (url !== null && (isAddress || isMailed || isIcann === true || isIp === true))
        domains.add(siteOf(url))
    }
  }
  return domains
}

/** Names with a dot inside, without the dots of sentences around them. */
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
