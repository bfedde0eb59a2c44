import type { Config } from '../config/config.ts'
import type { createEgress } from './egress.ts'

/** Returns the settings for outgoing calls. */
export function egressSettings(config: Config): Parameters<typeof createEgress>[0] {
  const publicHost = URL.parse(config.LOAM_PUBLIC_URL ?? '')?.hostname
  return {
    allow: config.LOAM_EGRESS_ALLOW,
    servers: config.LOAM_DNS_SERVERS,
    baseUrls: readBaseUrls(config),
    contact: config.LOAM_CONTACT ?? config.LOAM_PUBLIC_URL,
    smtpProbe: {
      port: config.LOAM_SMTP_PROBE_PORT,
      ...(publicHost === undefined ? {} : { name: publicHost }),
    },
  }
}

/** Returns the base URLs of the providers that the operator has moved. */
function readBaseUrls({ LOAM_SEARCH_URL, providerUrls }: Config): ReadonlyMap<string, string> {
  return LOAM_SEARCH_URL === undefined
    ? providerUrls
    : new Map([['searxng', LOAM_SEARCH_URL], ...providerUrls])
}
