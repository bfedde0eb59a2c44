import { parse } from 'tldts'
import { z } from 'zod'

/** This machine, where a developer tries a pixel; only where the operator allows it. */
export const LOCALHOST = 'localhost'

/** A host name of the public web, as `acme.com` or `shop.acme.com`, or `localhost`; addresses and bare suffixes are none. */
export const activeDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .refine(isSite, { error: 'must be a host name, as acme.com, without https:// and path' })
  .describe('The website that is watched, with its subdomains')

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

/** The address of a page without what may tell of a person: no fragment, no user, no parameters but those of a campaign. */
export function cleanPage(text: string, site: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || !isOnSite(url.hostname, site)) return null
  const kept = new URLSearchParams([...url.searchParams].filter(([name]) => CAMPAIGN.test(name))).toString()
  return `${url.origin}${url.pathname}${kept === '' ? '' : `?${kept}`}`.slice(0, MAX_URL)
}

/** Where a visitor came from, without parameters; null from the site itself. */
export function cleanReferrer(text: string, site: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || isOnSite(url.hostname, site)) return null
  return `${url.origin}${url.pathname}`.slice(0, MAX_URL)
}
