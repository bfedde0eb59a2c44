import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { Agent, Pool } from 'undici'
import { announceCall } from '../outside-calls.ts'
import { resumeWork } from '../timing/thread-watch.ts'
import { type AllowEntry, permitsLocalhost } from './addresses.ts'
import { ACCEPT_ENCODING, decodeBody } from './body.ts'
import { createConnector, type Guard } from './connector.ts'
import { CountedSocket } from './counted-socket.ts'
import { Deadline, exchange, type Expectation } from './exchange.ts'
import { type EgressFailureKind, EgressFault, toExchangeFault } from './failures.ts'
import { createHeldBytes, type HeldBytes } from './held-bytes.ts'
import { firstHop, type Hop, locationOf, nextHop, parseUrl } from './hops.ts'
import { goesOn, headersFor } from './part.ts'
import { createRecords, type DnsRecords } from './records.ts'
import type { EgressRequest } from './request.ts'
import { createResolver, type Resolve, shareInFlight } from './resolver.ts'
import { type EgressResponse, Response } from './response.ts'
import { type ConnectRequest, openGuarded } from './socket.ts'

/** A failed call. The message contains at most scheme, host and port: never a path, query, header or body. */
export type EgressFailure = {
  ok: false
  kind: EgressFailureKind
  message: string
  /** Tells that the same call may succeed later. The caller has to know whether the call may be repeated. */
  retryable: boolean
  ms: number
}

export type EgressResult = EgressResponse | EgressFailure

export type Egress = {
  /**
   * Makes a call. Never rejects for something that the caller's data or a peer causes: the result is a
   * failure.
   */
  fetch: (request: EgressRequest) => Promise<EgressResult>
  /**
   * Opens a bare TCP connection under the same rules. Its incoming bytes are limited. The caller has to end
   * the socket.
   */
  connect: (request: ConnectRequest) => Promise<{ ok: true; socket: CountedSocket } | EgressFailure>
  /**
   * Opens a connection without the limit, for a caller that passes the bytes on, counts them and keeps none.
   */
  tunnel: (request: ConnectRequest) => Promise<{ ok: true; socket: Socket } | EgressFailure>
  dns: DnsRecords
  /** Returns a provider's base URL: the one that the operator has set, or `fallback` (D55). */
  baseUrl: (provider: string, fallback: string) => string
  /** Tells that the operator allows calls to this machine itself. */
  allowsLocalhost: boolean
  /** The operator's address or page, for services that want to know whom to ask about calls. */
  contact?: string
  /** The way to ask mail servers about an address. Port 0 asks none. */
  smtpProbe: SmtpProbe
  /** Ends every connection. Calls in flight fail with `aborted`. */
  close: () => Promise<void>
}

export type SmtpProbe = { port: number; name: string }

/** The limit of all bytes that the process receives or decodes at once, whichever client receives them. */
const HELD = createHeldBytes(128_000_000)
const LIMITS = { timeoutMs: 30_000, maxBytes: 10_000_000, maxRedirects: 5 }
// The deadline of a call replaces undici's own timeouts. Idle connections end soon and do not keep the
// process alive.
const POOL_OPTIONS = {
  allowH2: false,
  maxHeaderSize: 65_536,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
}

export type EgressOptions = {
  allow: readonly AllowEntry[]
  userAgent?: string
  resolve?: Resolve
  /** The name servers. If the list is empty, those of the system are used. */
  servers?: readonly string[]
  baseUrls?: ReadonlyMap<string, string>
  contact?: string | undefined
  smtpProbe?: Partial<SmtpProbe>
  maxHeldBytes?: number
}

/**
 * Creates the HTTP client for all outgoing calls. It reaches public addresses and the addresses that `allow`
 * names, nothing else.
 */
export function createEgress(options: EgressOptions): Egress {
  const closing = new AbortController()
  const servers = options.servers ?? []
  const network = createResolver({ allow: options.allow, ...(servers.length > 0 && { servers }) })
  const records = createRecords(servers)
  const guard = {
    allow: options.allow,
    resolve: shareInFlight(options.resolve ?? network.resolve),
    closing: closing.signal,
  }
  const agent = createAgent(guard)
  const held = options.maxHeldBytes === undefined ? HELD : createHeldBytes(options.maxHeldBytes)
  const sockets = new Set<Socket>()
  async function tunnel(request: ConnectRequest): ReturnType<Egress['tunnel']> {
    announceCall(`${request.host}:${request.port}`)
    const started = performance.now()
    try {
      const socket = await openGuarded(request, guard)
      sockets.add(socket.once('close', () => sockets.delete(socket)))
      return { ok: true, socket }
    } catch (error) {
      return toFailure(error, Math.round(performance.now() - started))
    }
  }

  async function connect(request: ConnectRequest): ReturnType<Egress['connect']> {
    const opened = await tunnel(request)
    return opened.ok ? { ok: true, socket: new CountedSocket(opened.socket, held.open) } : opened
  }

  async function close(): Promise<void> {
    const destroyed = agent.destroy()
    closing.abort()
    network.cancel()
    records.cancel()
    for (const socket of sockets) socket.destroy()
    await destroyed
  }

  return {
    fetch: createFetch(agent, held, options.userAgent ?? 'loam'),
    connect,
    tunnel,
    dns: records.dns,
    baseUrl: (provider, fallback) => options.baseUrls?.get(provider) ?? fallback,
    allowsLocalhost: permitsLocalhost(options.allow),
    ...(options.contact === undefined ? {} : { contact: options.contact }),
    smtpProbe: { port: 25, name: hostname(), ...options.smtpProbe },
    close,
  }
}

function createFetch(agent: Agent, held: HeldBytes, userAgent: string): Egress['fetch'] {
  const basicDefaults = ['accept', '*/*', 'user-agent', userAgent]
  const wholeDefaults = [...basicDefaults, 'accept-encoding', ACCEPT_ENCODING]

  return async function fetch(request) {
    announceCall(request.url)
    const started = performance.now()
    const { maxBytes = LIMITS.maxBytes, part } = request
    const deadline = new Deadline(request.timeoutMs ?? LIMITS.timeoutMs, request.signal)
    const holding = held.open(deadline)
    const trail = { route: '' }
    try {
      const start = parseUrl(request.url)
      trail.route = start.origin
      const expected = { request, deadline, holding, maxBytes }
      const defaults = part === undefined ? wholeDefaults : [...basicDefaults, ...headersFor(part)]
      const first = firstHop({ url: start, origin: start.origin }, request, defaults)
      const { last, redirects, next, exchanged } = await followRedirects(agent, first, expected, trail)
      const { status, headers, body: sent } = exchanged
      const body = await decodeBody(sent, headers, expected)
      const more = exchanged.isCut || goesOn(exchanged, part, sent.length)
      const location = next?.url.href ?? null
      const ms = Math.round(performance.now() - started)
      return new Response({ status, body, url: last.url.href, redirects, location, more, ms }, headers)
    } catch (error) {
      const { route } = trail
      return toFailure(route === '' ? error : onRoute(route, error), Math.round(performance.now() - started))
    } finally {
      holding.release()
      deadline.end()
      resumeWork()
    }
  }
}

/** Makes the exchanges of a call until the one whose reply the caller gets. Notes the route for error messages. */
async function followRedirects(
  agent: Agent,
  first: Hop,
  expected: Expectation & { request: EgressRequest },
  trail: { route: string },
) {
  const { request } = expected
  const { maxRedirects = LIMITS.maxRedirects } = request
  let hop = first
  for (let redirects = 0; ; redirects += 1) {
    const exchanged = await exchange(agent, hop, expected)
    const redirection = locationOf(exchanged.status, exchanged.headers)
    const next = redirection === null ? null : nextHop(hop, exchanged.status, redirection)
    if (next === null || request.redirects === 'return') return { last: hop, redirects, next, exchanged }
    if (redirects >= maxRedirects) {
      throw new EgressFault('too_many_redirects', `more than ${maxRedirects} redirects.`)
    }
    hop = next
    trail.route = `${hop.origin} (redirected from ${first.origin})`
  }
}

function onRoute(route: string, error: unknown): EgressFault {
  const fault = toExchangeFault(error)
  return new EgressFault(fault.kind, `${route}: ${fault.message}`, fault.retryable)
}

function toFailure(error: unknown, ms: number): EgressFailure {
  if (!(error instanceof EgressFault)) throw error
  return { ok: false, kind: error.kind, message: error.message, retryable: error.retryable, ms }
}

// Each origin has its own pool and connector, so a connection that was admitted for one host never serves
// another. This Agent, other than undici's global one, ignores proxies in the environment.
function createAgent(guard: Guard): Agent {
  return new Agent({
    allowH2: false,
    factory: (origin) =>
      new Pool(origin, { ...POOL_OPTIONS, connect: createConnector(new URL(origin), guard) }),
  })
}
