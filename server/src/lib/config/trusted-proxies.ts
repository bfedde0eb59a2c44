import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = { address: Address; bits: number }

/**
 * The proxies that are trusted to report the client's address: a number of proxies in a row, or proxies with
 * certain addresses.
 */
export type TrustedProxies = { hops: number } | { networks: Network[] }

const MAX_HOPS = 100

/**
 * Reads LOAM_TRUST_PROXY: `false`, `true` (one proxy), a number of proxies, or the addresses and networks of
 * the proxies.
 */
export function parseTrustedProxies(text: string): TrustedProxies | string {
  if (text === 'false') return { hops: 0 }
  if (text === 'true') return { hops: 1 }
  if (/^\d+$/.test(text)) {
    return Number(text) <= MAX_HOPS ? { hops: Number(text) } : `must be at most ${MAX_HOPS} proxies`
  }
  const parts = text.split(',').map((part) => part.trim())
  const networks = parts.map(parseNetwork)
  const wrong = parts.filter((_, n) => networks[n] === null)
  return wrong.length === 0
    ? { networks: networks.filter((network) => network !== null) }
    : `must be false, true, a number of proxies, or addresses such as 10.0.0.0/8,192.0.2.1 (invalid: ${wrong.join(', ')})`
}

function parseNetwork(text: string): Network | null {
  const [, host = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = parseAddress(host)
  if (address === null) return null
  const width = address.kind() === 'ipv4' ? 32 : 128
  const wanted = bits === undefined ? width : Number(bits)
  return wanted <= width ? { address, bits: wanted } : null
}

/**
 * Reads an address as proxies write it, with or without a port. Returns null if the text is not an address.
 */
export function parseAddress(text: string): Address | null {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? []
  const [, dotted] = /^([\d.]+):\d{1,5}$/.exec(text) ?? []
  const host = bracketed ?? dotted ?? text
  return isIP(host) === 0 || host.includes('%') ? null : ipaddr.process(host)
}

export function isInNetworks(address: Address, networks: readonly Network[]): boolean {
  return networks.some(
    (network) => network.address.kind() === address.kind() && address.match(network.address, network.bits),
  )
}
