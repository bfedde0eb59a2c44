import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import type { Log } from '../../lib/log.ts'
import type { Api } from '../services.ts'
import { connectedAddress } from './client-address.ts'

/**
 * The time a connection may be without a request before it counts as idle: bytes it sent may not have been
 * read yet.
 */
const GRACE_MS = 5000
const CHECK_MS = 1000
const LOG_EVERY_MS = 60_000

type Limits = { total: number; perAddress: number; trusted: TrustedProxies }

/** One open connection. */
type Connection = {
  socket: Socket
  /** The address, or null behind a trusted proxy, which has many clients. */
  address: string | null
  /** Becomes true once a request with a valid key or session came on the connection. */
  isKeyed: boolean
  /** The request in progress. */
  request: IncomingMessage | null
  /** The time when the connection was opened, or when its last request ended. */
  since: number
}

export type ConnectionLimits = {
  /** Notes that a request with a valid key or session came on the connection. */
  welcome(socket: Socket): void
}

/**
 * Keeps the number of open connections within the process's file descriptors. An address without a valid key
 * may have `perAddress` connections; beyond that, those that have waited longest for their client are closed.
 * Beyond `total`, one connection is closed at once: first of the address with the most, then an idle one with
 * a key. If none is idle, the new one is refused.
 */
export function limitConnections(app: Api, limits: Limits, log: Log): ConnectionLimits {
  const all = new Map<Socket, Connection>()
  /** The connections without a valid key by address, oldest first. */
  const strangers = new Map<string | null, Set<Connection>>()
  let closed = 0
  let loggedAt = -Infinity

  function forget(connection: Connection): void {
    const group = strangers.get(connection.address)
    group?.delete(connection)
    if (group?.size === 0) strangers.delete(connection.address)
  }

  function close(connection: Connection): void {
    closed += 1
    all.delete(connection.socket)
    forget(connection)
    connection.socket.destroy()
  }

  function closeBeyondAddress(now: number): void {
    for (const [address, group] of strangers) {
      if (address === null || group.size <= limits.perAddress) continue
      for (const connection of group) {
        if (group.size <= limits.perAddress) break
        if (waitsForClient(connection) && now - connection.since >= GRACE_MS) close(connection)
      }
    }
  }

  /**
   * Closes one connection to make room for the newest. Returns false if every other one has a request in
   * progress.
   */
  function makeRoom(newest: Connection): boolean {
    const largest = [...strangers.values()].reduce<Set<Connection>>(
      (most, group) => (group.size > most.size ? group : most),
      new Set(),
    )
    const findWaiting = (group: Iterable<Connection>) => {
      for (const one of group) if (one !== newest && waitsForClient(one)) return one
      return undefined
    }
    const victim = findWaiting(largest) ?? findWaiting(all.values())
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
    const group = strangers.get(address) ?? new Set()
    strangers.set(address, group.add(connection))
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
      // Moves the connection to the end: the map is ordered by the time a connection became idle.
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
  // The check runs after the poll phase, so that bytes sent while this process was busy are read first.
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

/**
 * Returns true if the connection waits for its client: no request is in progress, or one without a key is
 * still being sent.
 */
function waitsForClient({ request, isKeyed }: Connection): boolean {
  return request === null || (!isKeyed && !request.complete)
}
