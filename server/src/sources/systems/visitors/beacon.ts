import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { describeNonPublic } from '../../../lib/egress/addresses.ts'
import { makeStorableText } from '../../../lib/json/storable.ts'
import type { Sender } from '../../receive.ts'
import { cleanPage, cleanReferrer, isOnSite } from './site.ts'

/** The data that the script sends. */
export const Beacon = z.object({
  url: z.string().max(2000),
  referrer: z.string().max(2000).optional(),
  title: z.string().max(1000).optional(),
})

/** The stored part of a beacon. `address` is the visitor's, or null if it is not a public internet address. */
export const PageView = z.object({
  address: z.string().nullable(),
  url: z.string(),
  title: z.string().nullable(),
  referrer: z.string().nullable(),
  visit: z.string(),
})
export type PageView = z.infer<typeof PageView>

const BOTS =
  /bot\b|crawl|spider|slurp|headless|phantomjs|selenium|puppeteer|playwright|lighthouse|pagespeed|monitor|uptime|pingdom|curl\/|wget\/|python|java\/|go-http|node-fetch|axios|okhttp|libwww|httpclient|facebookexternalhit|whatsapp|telegram|preview/i

/** Returns true for programs that identify themselves and for clients without a useful user agent. */
export const isBot = (userAgent: string): boolean => userAgent.trim().length < 10 || BOTS.test(userAgent)

const MAX_TITLE = 200

/**
 * Reads a beacon as a view of a page of the site. Returns null for a page of another site. The visit is a hash of
 * address, browser and site with the salt of the day: the same visitor gets another hash tomorrow, and nobody can
 * identify the visitor once the salt is deleted.
 */
export function readBeacon(
  { url, referrer, title }: z.infer<typeof Beacon>,
  { address, userAgent, origin }: Sender,
  { site, salt }: { site: string; salt: Buffer },
): PageView | null {
  const page = cleanPage(url, site)
  const from = origin === undefined ? null : URL.parse(origin)
  if (page === null || (origin !== undefined && (from === null || !isOnSite(from.hostname, site))))
    return null
  const visit = createHmac('sha256', salt)
    .update(JSON.stringify([address, userAgent, site]))
    .digest('base64url')
  return {
    address: publicAddress(address),
    url: makeStorableText(page, () => undefined),
    title: makeStorableText((title ?? '').slice(0, MAX_TITLE), () => undefined) || null,
    referrer: cleanReferrer(referrer ?? '', site),
    visit,
  }
}

/** Returns the address if it is a public one: only those are ever looked up. */
function publicAddress(address: string): string | null {
  if (!ipaddr.isValid(address)) return null
  const plain = ipaddr.process(address).toString()
  return describeNonPublic(plain) === null ? plain : null
}
