import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { isInNetworks, parseAddress, type TrustedProxies } from '../../lib/config/trusted-proxies.ts'

/** Also a request that Fastify has not seen yet. */
type Connected = Pick<FastifyRequest, 'raw' | 'headers'>
type Address = NonNullable<ReturnType<typeof parseAddress>>

/** Whom a request without a key is counted for. */
export function clientAddress(request: Connected, trusted: TrustedProxies): string {
  const found = findClient(request, trusted)
  return found === null ? 'unknown' : countedAs(found)
}

/** Whom a connection is counted for, before anything came on it; null for a proxy of ours, behind which are many. */
export function connectedAddress({ remoteAddress }: Socket, trusted: TrustedProxies): string | null {
  const connected = parseAddress(remoteAddress ?? '')
  if (connected === null) return null
  const isProxy = 'hops' in trusted ? trusted.hops > 0 : isInNetworks(connected, trusted.networks)
  return isProxy ? null : countedAs(connected)
}

/** The whole address of the client, as a lookup needs it; empty where there is none. */
export function wholeAddress(request: FastifyRequest, trusted: TrustedProxies): string {
  return findClient(request, trusted)?.toString() ?? ''
}

/**
 * X-Forwarded-For is believed as far as proxies of ours wrote it, from its end; where it holds anything else than addresses, the
 * connection's own address counts.
 */
function findClient({ raw, headers }: Connected, trusted: TrustedProxies): Address | null {
  const peer = raw.socket.remoteAddress ?? ''
  const connected = parseAddress(peer)
  if (connected === null) return null
  const given = 'hops' in trusted && trusted.hops === 0 ? [] : entriesOf(headers['x-forwarded-for'])
  const found =
    'hops' in trusted ? behindHops(given, trusted.hops) : behindNetworks(connected, given, trusted.networks)
  return found ?? connected
}

function entriesOf(header: string | string[] | undefined): string[] {
  const text = [header ?? []].flat().join(',')
  return text === '' ? [] : text.split(',').map((entry) => entry.trim())
}

/** With one proxy its own entry counts, the last one; what stands before that was sent by the client. */
function behindHops(entries: readonly string[], hops: number): Address | null {
  const entry = entries[Math.max(0, entries.length - hops)]
  return entry === undefined ? null : parseAddress(entry)
}

function behindNetworks(
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

/** Whoever has one address of IPv6 has the 64 bits behind its network too. */
function countedAs(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString()
  const network = address.toByteArray().slice(0, 8)
  return `${network.map((byte) => byte.toString(16).padStart(2, '0')).join('')}/64`
}
