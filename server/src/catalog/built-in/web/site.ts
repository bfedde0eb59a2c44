import { domainToASCII } from 'node:url'
import { parse } from 'tldts'

/** A company's site, which a caller names by a domain, a host with a port, or any address on it. */
export type Site = {
  host: string
  /** The registrable domain, or the host itself if there is none (an IP address, a name in a local network). */
  domain: string
  isAddress: boolean
  /** The possible addresses of its home page, the best first. */
  homes: string[]
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i

/**
 * Reads `acme.com`, `WWW.Acme.COM`, `https://acme.com/about`, `bücher.de`, `ann@acme.com`. Returns null if the text names
 * no site.
 */
export function readSite(text: string): Site | null {
  const bare = text.trim().replace(/^mailto:/i, '')
  const named = /^[^\s/@]+@([^\s/@]+)$/.exec(bare)?.[1] ?? bare
  const scheme = SCHEME.exec(named)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') return null
  const url = URL.parse(scheme === undefined ? `http://${named.replace(/^\/\//, '')}` : named)
  const host = url === null ? '' : domainToASCII(url.hostname).replace(/\.$/, '') || url.hostname
  if (
    url === null ||
    host === '' ||
    host.split('.').includes('') ||
    /\s/.test(named.split(/[/?#]/, 1)[0] ?? '')
  ) {
    return null
  }
  const { domain, isIp, subdomain } = parse(host, { allowPrivateDomains: true })
  const isAddress = isIp === true || host.startsWith('[')
  return {
    host: host.replace(/^\[|\]$/g, ''),
    domain: domain ?? host,
    isAddress,
    homes: homesOf(host, url.port, scheme, !isAddress && domain !== null && subdomain === ''),
  }
}

/**
 * Returns the possible addresses of a home page: https before http, and the name with `www` last, for sites that only
 * answer under it.
 */
function homesOf(host: string, port: string, scheme: string | undefined, bareDomain: boolean): string[] {
  const at = port === '' ? '' : `:${port}`
  if (port !== '' && scheme !== undefined) return [`${scheme}://${host}${at}/`]
  const names = bareDomain && port === '' ? [host, `www.${host}`] : [host]
  return names.flatMap((name) => [`https://${name}${at}/`, `http://${name}${at}/`])
}

/**
 * Returns true if two addresses are on the same site: the same registrable domain, or the same host and port if there is
 * none.
 */
export function isSameSite(url: URL, other: URL): boolean {
  const domain = parse(url.hostname, { allowPrivateDomains: true }).domain
  const otherDomain = parse(other.hostname, { allowPrivateDomains: true }).domain
  return domain === null || otherDomain === null ? url.host === other.host : domain === otherDomain
}

/** Returns the possible addresses of a page: the given one, or https and then http if it has no scheme. */
export function readAddresses(text: string): string[] {
  const bare = text.trim()
  if (SCHEME.test(bare) || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(bare)) return [bare]
  const rest = bare.replace(/^\/\//, '')
  return [`https://${rest}`, `http://${rest}`]
}
