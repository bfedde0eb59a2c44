import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { type AllowEntry, describeRefusal, type Target } from './addresses.ts'
import { EgressFault, toConnectFault } from './failures.ts'
import { type Resolve, toDnsFault } from './resolver.ts'

const CONNECT_TIMEOUT_MS = 10_000

export type Guard = { allow: readonly AllowEntry[]; resolve: Resolve; closing: AbortSignal }

/**
 * Creates the connections of one origin. A connection uses exactly the addresses that were checked: `lookup`
 * is called once for each connection, and Node does not resolve the name a second time.
 */
export function createConnector(origin: URL, guard: Guard): buildConnector.connector {
  const target = { host: hostOf(origin), port: portOf(origin) }
  const connect = buildConnector({
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 500,
    lookup: createLookup(target, guard),
    signal: guard.closing,
  })

  return (options, callback) => {
    const open = () =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(toConnectFault(error), null)
        socket.prependListener('error', unmaskReset)
        return callback(null, socket)
      })
    // Node calls no lookup for an IP address, so an IP address is checked here.
    if (isIP(target.host) === 0) open()
    else admitThen(target, guard, (fault) => (fault === null ? open() : callback(fault, null)))
  }
}

function createLookup(target: Target, guard: Guard): LookupFunction {
  return (_host, options, callback) =>
    admitThen(target, guard, (fault, addresses) => {
      if (fault !== null) return callback(fault, '')
      const found = addresses.map((address) => ({ address, family: isIP(address) }))
      return options.all === true
        ? callback(null, found)
        : callback(null, found[0]?.address ?? '', found[0]?.family)
    })
}

const admitThen = callbackify(admit)

/**
 * Resolves a host and checks its addresses. A single refused address refuses the whole host: a name with both
 * private and public addresses is a trap.
 */
export async function admit(target: Target, guard: Guard): Promise<string[]> {
  const addresses = await addressesOf(target.host, guard.resolve)
  if (addresses.length === 0)
    throw new EgressFault('dns', 'the host name has no address. Check its name.', false)
  for (const address of addresses) {
    const refusal = describeRefusal(guard.allow, target, address)
    if (refusal !== null) throw refusedAddress(target, refusal)
  }
  return addresses
}

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  // RFC 6761: these names are loopback, whatever a resolver answers.
  if (/^(.+\.)?localhost\.?$/i.test(host)) return ['127.0.0.1', '::1']
  try {
    return await resolve(host)
  } catch (error) {
    throw toDnsFault(error)
  }
}

// The message does not contain the address behind the name: the caller may not be entitled to know the
// operator's network.
function refusedAddress({ host, port }: Target, refusal: string): EgressFault {
  const entry = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const cause = isIP(host) === 0 ? `the host resolves to ${refusal}` : `this is ${refusal}`
  return new EgressFault(
    'refused_address',
    `refused, because ${cause}. The operator can permit it with LOAM_EGRESS_ALLOW=${entry}.`,
  )
}

// undici takes a reset for the end of a body that ends with the connection, and would report half a body as
// success.
function unmaskReset(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = 'ERESET'
}

function hostOf(origin: URL): string {
  return origin.hostname.replace(/^\[|\]$/g, '')
}

function portOf(origin: URL): number {
  if (origin.port !== '') return Number(origin.port)
  return origin.protocol === 'https:' ? 443 : 80
}
