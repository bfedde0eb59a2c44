import type { Egress } from '../../../lib/egress/egress.ts'
import { isRole, type MailAddress, parseAddress } from './address-syntax.ts'
import { isDisposable } from './disposable-domains.ts'
import { type Probe, probeServer } from './smtp-probe.ts'

export type AddressStatus = 'valid' | 'invalid' | 'catch_all' | 'disposable' | 'role' | 'unknown'
export type AddressCheck = { status: AddressStatus; reason: string; mx: string | null }

const MAX_SERVERS = 2
const LONGEST_MS = 40_000

/**
 * Checks an address without sending mail: its syntax, the lists of disposable domains and role names, the domain's mail
 * servers and their answers. An address that no server can be asked about is `unknown`, never `valid`.
 */
export async function verifyAddress(
  email: string,
  { egress, signal }: { egress: Egress; signal: AbortSignal },
): Promise<AddressCheck> {
  const parsed = parseAddress(email)
  if (!parsed.ok) return { status: 'invalid', reason: parsed.reason, mx: null }
  const { address } = parsed
  if (isDisposable(address.domain)) {
    return { status: 'disposable', reason: `${address.domain} gives mailboxes for a short time`, mx: null }
  }
  const found = await findServers(egress, address.domain)
  if ('status' in found) return found
  const [mx = null] = found.servers
  const probe = await probeServers(egress, found.servers, address, signal)
  if (probe.kind === 'refused') return { status: 'invalid', reason: probe.reason, mx }
  if (isRole(address.local))
    return { status: 'role', reason: 'the address belongs to a function, not to a person', mx }
  const status = STATUSES[probe.kind]
  return { status, reason: probe.reason, mx }
}

const STATUSES = { accepted: 'valid', accepts_all: 'catch_all', unknown: 'unknown' } as const

/**
 * Returns the mail servers of a domain, the preferred one first. Without any, the domain's own address accepts its mail
 * (RFC 5321, 5.1).
 */
async function findServers(egress: Egress, domain: string): Promise<{ servers: string[] } | AddressCheck> {
  const invalid = (reason: string): AddressCheck => ({ status: 'invalid', reason, mx: null })
  const mx = await egress.dns.mx(domain)
  if (!mx.ok) return { status: 'unknown', reason: mx.message, mx: null }
  if (!mx.exists) return invalid(`the domain ${domain} does not exist`)
  const servers = mx.records.map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ''))
  if (servers.length > 0) {
    // RFC 7505: a single dot means that the domain accepts no mail.
    const usable = servers.filter((server) => server !== '' && server !== '.')
    return usable.length > 0 ? { servers: usable } : invalid(`the domain ${domain} takes no mail`)
  }
  const addresses = await egress.dns.addresses(domain)
  if (!addresses.ok) return { status: 'unknown', reason: addresses.message, mx: null }
  return addresses.records.length > 0
    ? { servers: [domain] }
    : invalid(`the domain ${domain} has no mail server`)
}

async function probeServers(
  egress: Egress,
  servers: readonly string[],
  address: MailAddress,
  outer: AbortSignal,
): Promise<Probe> {
  if (egress.smtpProbe.port === 0)
    return {
      kind: 'unknown',
      reason: 'mail servers are not asked on this installation (LOAM_SMTP_PROBE_PORT is 0)',
    }
  if (!/^[\x20-\x7e]+$/.test(address.local))
    return { kind: 'unknown', reason: 'mail servers cannot be asked about names beyond ASCII' }
  const signal = AbortSignal.any([outer, AbortSignal.timeout(LONGEST_MS)])
  let last: Probe = { kind: 'unknown', reason: 'no mail server was asked' }
  for (const server of servers.slice(0, MAX_SERVERS)) {
    if (signal.aborted) break
    last = await probeServer(egress, server, address, signal)
    if (last.kind !== 'unknown' || last.unreached !== true) return last
  }
  return last
}
