import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import type { Log } from '../../lib/log.ts'
import type { Api } from '../services.ts'
import { connectedAddress } from './client-address.ts'

/** A connection may be without a request for so long before it counts as idle: what it sent may not have been read yet. */
const GRACE_MS = 5000
const CHECK_MS = 1000
const LOG_EVERY_MS = 60_000

type Limits = { total: number; perAddress: number; trusted: TrustedProxies }

/** One open connection. */
type Connection = {
  socket: Socket
  /** Null behind a proxy of ours, which has many clients. */
  address: string | null
  /** A request with a valid key or session came on it. */
  isKeyed: boolean
  /** The request under way. */
  request: IncomingMessage | null
  /** When it was opened, or its last request ended. */
  since: number
}

export type ConnectionLimits = {
  /** Notes that a request with a valid key or session came on the connection. */
  welcome(socket: Socket): void
}

/**
 * Keeps the number of open connections within what the process has descriptors for. Without a valid key an address has
 * `perAddress` of them, and beyond that those that have waited longest for their client are closed. Beyond `total` the same
 * happens to whichever address has most of them, at once; then to idle ones with a key; and a new one is refused when none is idle.
 */
export function limitConnections(app: Api, limits: Limits, log: Log): ConnectionLimits {
  const all = new Map<Socket, Connection>()
  /** Connections without a valid key by address, the oldest first. */
  const strangers = new Map<string | null, Set<Connection>>()
  let closed = 0
  let loggedAt = -Infinity

  function forget(connection: Connection): void {
    const of = strangers.get(connection.address)
    of?.delete(connection)
    if (of?.size === 0) strangers.delete(connection.address)
  }

  function close(connection: Connection): void {
    closed += 1
    all.delete(connection.socket)
    forget(connection)
    connection.socket.destroy()
  }

  function closeBeyondAddress(now: number): void {
    for (const [address, of] of strangers) {
      if (address === null || of.size <= limits.perAddress) continue
      for (const connection of of) {
        if (of.size <= limits.perAddress) break
        if (waitsForClient(connection) && now - connection.since >= GRACE_MS) close(connection)
      }
    }
  }

  /** Makes room for one more connection; false where every other one is at work. */
  function makeRoom(newest: Connection): boolean {
    const largest = [...strangers.values()].reduce<Set<Connection>>(
      (most, of) => (of.size > most.size ? of : most),
      new Set(),
    )
    const waiting = (of: Iterable<Connection>) => {
      for (const one of of) if (one !== newest && waitsForClient(one)) return one
      return undefined
    }
    const victim = waiting(largest) ?? waiting(all.values())
    if (victim !== undefined) close(victim)
    return victim !== undefined
  }

  app.server.on('connection', (socket: Socket) => {
    const address = connectedAddress(socket, limits.trusted)
    const connection: Connection = {
      socket,
      address,
      isKeyed: false,
      request: null,
      since: performance.now(),
    }
    all.set(socket, connection)
    const of = strangers.get(address) ?? new Set()
    strangers.set(address, of.add(connection))
    socket.once('close', () => {
      all.delete(socket)
      forget(connection)
    })
    if (all.size > limits.total && !makeRoom(connection)) close(connection)
  })
  app.server.on('request', (request, response) => {
    const connection = all.get(request.socket)
    if (connection === undefined) return
    connection.request = request
    response.once('close', () => {
      if (connection.request !== request) return
      connection.request = null
      connection.since = performance.now()
      // In the order in which they became idle.
      if (all.delete(connection.socket)) all.set(connection.socket, connection)
    })
  })

  const check = () => {
    const now = performance.now()
    closeBeyondAddress(now)
    if (closed === 0 || now - loggedAt < LOG_EVERY_MS) return
    log.warn({ closed }, 'closed connections beyond LOAM_CONNECTIONS or LOAM_CONNECTIONS_PER_ADDRESS')
    closed = 0
    loggedAt = now
  }
  // After the poll: what was sent while this process was busy is read first.
  const timer = setInterval(() => setImmediate(check), CHECK_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  return {
    welcome(socket) {
      const connection = all.get(socket)
      if (connection === undefined || connection.isKeyed) return
      connection.isKeyed = true
      forget(connection)
    },
  }
}

/** Whether it is the client's turn: nothing was asked, or what was asked without a key is still being sent. */
function waitsForClient({ request, isKeyed }: Connection): boolean {
  return request === null || (!isKeyed && !request.complete)
}
