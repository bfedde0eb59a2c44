import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { isInNetworks, parseAddress, type TrustedProxies } from '../../lib/config/trusted-proxies.ts'

/** A request, also one that Fastify has not parsed yet. */
type Connected = Pick<FastifyRequest, 'raw' | 'headers'>
type Address = NonNullable<ReturnType<typeof parseAddress>>

/** Returns the address that a request without a key is counted for. */
export function clientAddress(request: Connected, trusted: TrustedProxies): string {
  const found = findClient(request, trusted)
  return found === null ? 'unknown' : toCountedAddress(found)
}

/**
 * Returns the address that a connection is counted for before its first request, or null for a trusted proxy,
 * which has many clients.
 */
export function connectedAddress({ remoteAddress }: Socket, trusted: TrustedProxies): string | null {
  const connected = parseAddress(remoteAddress ?? '')
  if (connected === null) return null
  const isProxy = 'hops' in trusted ? trusted.hops > 0 : isInNetworks(connected, trusted.networks)
  return isProxy ? null : toCountedAddress(connected)
}

/** Returns the full address of the client, as a lookup needs it, or an empty text if it has none. */
export function wholeAddress(request: FastifyRequest, trusted: TrustedProxies): string {
  return findClient(request, trusted)?.toString() ?? ''
}

/**
 * Returns the address of the client. X-Forwarded-For is trusted from its end, as far as trusted proxies wrote
 * it. If an entry is not an address, the connection's own address counts.
 */
function findClient({ raw, headers }: Connected, trusted: TrustedProxies): Address | null {
  const peer = raw.socket.remoteAddress ?? ''
  const connected = parseAddress(peer)
  if (connected === null) return null
  const given = 'hops' in trusted && trusted.hops === 0 ? [] : splitEntries(headers['x-forwarded-for'])
  const found =
    'hops' in trusted
      ? findBehindHops(given, trusted.hops)
      : findBehindNetworks(connected, given, trusted.networks)
  return found ?? connected
}

function splitEntries(header: string | string[] | undefined): string[] {
  const text = [header ?? []].flat().join(',')
  return text === '' ? [] : text.split(',').map((entry) => entry.trim())
}

/**
 * Returns the entry before the given number of proxies. With one proxy that is the last entry; the client
 * itself sent what stands before it.
 */
function findBehindHops(entries: readonly string[], hops: number): Address | null {
  const entry = entries[Math.max(0, entries.length - hops)]
  return entry === undefined ? null : parseAddress(entry)
}

function findBehindNetworks(
  connected: Address,
  entries: readonly string[],
  networks: Parameters<typeof isInNetworks>[1],
): Address | null {
  let address = connected
  for (const entry of entries.toReversed()) {
    if (!isInNetworks(address, networks)) break
    const next = parseAddress(entry)
    if (next === null) return null
    address = next
  }
  return address
}

/**
 * Returns the address as it is counted. An IPv6 client usually owns the whole /64 network, so the network
 * counts.
 */
function toCountedAddress(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().slice(0, 8)
  return `${network.map((byte) => byte.toString(16).padStart(2, '0')).join('')}/64`
}
