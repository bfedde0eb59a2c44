import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The target of a connection. The host is spelled as in the URL, without brackets. */
export type Target = { host: string; port: number }

/** One entry of LOAM_EGRESS_ALLOW. An entry without a port applies to every port. */
export type AllowEntry = { port?: number } & (
  | { kind: 'host'; host: string }
  | { kind: 'range'; network: Address; bits: number }
)

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
// Azure offers its metadata service to guests at this single address inside public address space.
const AZURE_HOST = '168.63.129.16'

const RANGE_WORDS: Record<string, string> = {
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a carrier-grade NAT address',
  unspecified: 'an unspecified address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
}

/** Describes an address that is not publicly reachable unicast. Returns null if the address is public. */
export function describeNonPublic(text: string): string | null {
  if (isIP(text) === 0) return 'no IP address'
  if (text.includes('%')) return 'an address of one network interface'
  const address = ipaddr.parse(text)
  return address instanceof ipaddr.IPv4 ? describeNonPublic4(address) : describeNonPublic6(address)
}

function describeNonPublic4(address: ipaddr.IPv4): string | null {
  if (address.toString() === AZURE_HOST) return 'a cloud metadata address'
  return describeRange(address.range())
}

function describeNonPublic6(address: ipaddr.IPv6): string | null {
  // A NAT64 address leads to the IPv4 address in its last 32 bits. Networks without IPv4 reach every IPv4
  // address in this way.
  if (address.match(NAT64)) return describeNonPublic4(new ipaddr.IPv4(address.toByteArray().slice(12)))
  // This also refuses addresses that ipaddr.js does not count as a special range: unallocated space and
  // IPv4-compatible addresses.
  return describeRange(address.range()) ?? (address.match(GLOBAL_UNICAST) ? null : 'a reserved address')
}

function describeRange(range: string): string | null {
  return range === 'unicast' ? null : (RANGE_WORDS[range] ?? 'a reserved address')
}

/**
 * Describes why a connection to `address` for `target` is refused, in words that follow "is". Returns null if
 * it is allowed.
 */
export function describeRefusal(
  allow: readonly AllowEntry[],
  target: Target,
  address: string,
): string | null {
  const nonPublic = describeNonPublic(address)
  return nonPublic === null || allow.some((entry) => permits(entry, target, address)) ? null : nonPublic
}

function permits(entry: AllowEntry, target: Target, address: string): boolean {
  if (entry.port !== undefined && entry.port !== target.port) return false
  if (entry.kind === 'host') return entry.host === target.host.toLowerCase().replace(/\.$/, '')
  if (isIP(address) === 0 || address.includes('%')) return false
  const parsed = ipaddr.parse(address)
  return parsed.kind() === entry.network.kind() && parsed.match(entry.network, entry.bits)
}

/** Returns true if the operator allows this machine itself, by name or address, at any port. */
export function permitsLocalhost(allow: readonly AllowEntry[]): boolean {
  const target = { host: 'localhost', port: 0 }
  return allow.some(({ port: _any, ...entry }) => permits(entry, target, '127.0.0.1'))
}

/** Reads LOAM_EGRESS_ALLOW: entries separated by commas or spaces. Returns one line for each wrong entry. */
export function parseEgressAllow(text: string): { entries: AllowEntry[]; errors: string[] } {
  const entries: AllowEntry[] = []
  const errors: string[] = []
  for (const part of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const entry = parseEntry(part)
    if (typeof entry === 'string') errors.push(`"${part}" ${entry}`)
    else entries.push(entry)
  }
  return { entries, errors }
}

function parseEntry(text: string): AllowEntry | string {
  if (text.includes('://')) return 'is a URL; give only its host, or host:port'
  if (text.includes('*')) return 'has a wildcard; name each host, or give a CIDR'
  const bracketed = /^\[([^[\]]+)\](?::(.*))?$/.exec(text)
  const plain =
    /^([^:[\]]+)(?::([^:]*))?$/.exec(text) ?? (isIP(text.replace(/\/.*$/s, '')) === 6 ? [text, text] : null)
  const [, where, portText] = bracketed ?? plain ?? []
  if (where === undefined)
    return 'is no host, host:port, address or CIDR; an IPv6 port is written [fd00::1]:443'
  if (bracketed !== null && isIP(where.replace(/\/.*$/s, '')) !== 6)
    return 'has brackets around something that is not IPv6'
  const port = portText === undefined ? undefined : parsePort(portText)
  if (port === null) return 'has a wrong port; it must be 1 to 65535'
  const entry = where.includes('/')
    ? parseRange(where)
    : isIP(where) === 0
      ? parseHost(where)
      : parseRange(where)
  return typeof entry === 'string' || port === undefined ? entry : { ...entry, port }
}

function parsePort(text: string): number | null {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

function parseRange(text: string): AllowEntry | string {
  const [, address = '', bitsText] = /^([^/]*)(?:\/(.*))?$/.exec(text) ?? []
  if (isIP(address) === 0 || address.includes('%')) return 'is no range; write it like 10.0.0.0/8 or fd00::/8'
  const parsed = ipaddr.parse(address)
  const width = parsed instanceof ipaddr.IPv4 ? 32 : 128
  const bits = bitsText === undefined ? width : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : -1
  if (bits < 0 || bits > width) return `has a wrong prefix length; it must be 0 to ${width}`
  const family = parsed instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6
  const network = family.networkAddressFromCIDR(`${address}/${bits}`)
  if (network.toString() !== parsed.toString())
    return `has bits beyond its prefix; write ${network.toString()}/${bits}`
  return { kind: 'range', network, bits }
}

function parseHost(text: string): AllowEntry | string {
  // The URL parser decides what a host is, so that an entry matches the host of a URL with the same spelling.
  const url = /[@?#%\\]/.test(text) ? null : URL.parse(`http://${text}`)
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  if (isIP(host) !== 0) return `is an address in a short form; write ${host}`
  if (!/^[\w-]+(\.[\w-]+)*$/.test(host)) return 'is no host name'
  return { kind: 'host', host }
}
