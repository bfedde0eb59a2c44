import type { Config } from '../config/config.ts'
import type { createEgress } from './egress.ts'

/** What the settings of the process say about outgoing calls. */
export function egressSettings(config: Config): Parameters<typeof createEgress>[0] {
  const publicHost = URL.parse(config.LOAM_PUBLIC_URL ?? '')?.hostname
  return {
    allow: config.LOAM_EGRESS_ALLOW,
    servers: config.LOAM_DNS_SERVERS,
    baseUrls: placesOf(config),
    smtpProbe: {
      port: config.LOAM_SMTP_PROBE_PORT,
      ...(publicHost === undefined ? {} : { name: publicHost }),
    },
  }
}

/** Where providers are that are not where they usually are. */
function placesOf({ LOAM_SEARCH_URL, providerUrls }: Config): ReadonlyMap<string, string> {
  return LOAM_SEARCH_URL === undefined
    ? providerUrls
    : new Map([['searxng', LOAM_SEARCH_URL], ...providerUrls])
}
