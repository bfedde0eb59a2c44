import { parse } from 'tldts'
import { z } from 'zod'

/** The host name of this machine, where a developer tests a pixel. It needs the operator's permission. */
export const LOCALHOST = 'localhost'

/**
 * A public host name such as `acme.com` or `shop.acme.com`, or `localhost`. IP addresses and bare public suffixes are
 * refused.
 */
export const activeDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .refine(isSite, { error: 'must be a host name such as acme.com, without https:// and path' })
  .describe('The website to track, including its subdomains')

function isSite(text: string): boolean {
  if (text === LOCALHOST) return true
  const { hostname, domain, isIp } = parse(text, { allowPrivateDomains: true })
  return hostname === text && domain !== null && isIp === false && URL.canParse(`https://${text}`)
}

export function isOnSite(host: string, site: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name === site || name.endsWith(`.${site}`)
}

const MAX_URL = 500
const CAMPAIGN = /^utm_(source|medium|campaign|term|content)$/

/** Returns the URL of a page without personal data: no fragment, no user name, and only campaign parameters. */
export function cleanPage(text: string, site: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || !isOnSite(url.hostname, site)) return null
  const kept = new URLSearchParams([...url.searchParams].filter(([name]) => CAMPAIGN.test(name))).toString()
  return `${url.origin}${url.pathname}${kept === '' ? '' : `?${kept}`}`.slice(0, MAX_URL)
}

/** Returns the URL that a visitor came from, without parameters, or null if it is the site itself. */
export function cleanReferrer(text: string, site: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || isOnSite(url.hostname, site)) return null
  return `${url.origin}${url.pathname}`.slice(0, MAX_URL)
}
