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
  const connections = new Connections(limits)
  let loggedAt = -Infinity

  app.server.on('connection', (socket: Socket) => connections.add(socket))
  app.server.on('request', (request, response) => {
    const connection = connections.find(request.socket)
    if (connection === undefined) return
    connection.request = request
    response.once('close', () => {
      if (connection.request === request) connections.endRequest(connection)
    })
  })

  const check = () => {
    const now = performance.now()
    connections.closeBeyondAddress(now)
    const { closed } = connections
    if (closed === 0 || now - loggedAt < LOG_EVERY_MS) return
    log.warn({ closed }, 'closed connections beyond LOAM_CONNECTIONS or LOAM_CONNECTIONS_PER_ADDRESS')
    connections.closed = 0
    loggedAt = now
  }
  // The check runs after the poll phase, so that bytes sent while this process was busy are read first.
  const timer = setInterval(() => setImmediate(check), CHECK_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  return { welcome: (socket) => connections.welcome(socket) }
}

/** The open connections of a process, and their number by address. */
class Connections {
  /** The number of connections that were closed since it was last set to 0. */
  closed = 0
  readonly #limits: Limits
  readonly #all = new Map<Socket, Connection>()
  /** The connections without a valid key by address, oldest first. */
  readonly #strangers = new Map<string | null, Set<Connection>>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  find(socket: Socket): Connection | undefined {
    return this.#all.get(socket)
  }

  add(socket: Socket): void {
    const address = connectedAddress(socket, this.#limits.trusted)
    const connection: Connection = {
      socket,
      address,
      isKeyed: false,
      request: null,
      since: performance.now(),
    }
    this.#all.set(socket, connection)
    const group = this.#strangers.get(address) ?? new Set()
    this.#strangers.set(address, group.add(connection))
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#forget(connection)
    })
    if (this.#all.size > this.#limits.total && !this.#makeRoom(connection)) this.#close(connection)
  }

  endRequest(connection: Connection): void {
    connection.request = null
    connection.since = performance.now()
    // Moves the connection to the end: the map is ordered by the time a connection became idle.
    if (this.#all.delete(connection.socket)) this.#all.set(connection.socket, connection)
  }

  welcome(socket: Socket): void {
    const connection = this.#all.get(socket)
    if (connection === undefined || connection.isKeyed) return
    connection.isKeyed = true
    this.#forget(connection)
  }

  closeBeyondAddress(now: number): void {
    const { perAddress } = this.#limits
    for (const [address, group] of this.#strangers) {
      if (address === null || group.size <= perAddress) continue
      for (const connection of group) {
        if (group.size <= perAddress) break
        if (waitsForClient(connection) && now - connection.since >= GRACE_MS) this.#close(connection)
      }
    }
  }

  /**
   * Closes one connection to make room for the newest. Returns false if every other one has a request in
   * progress.
   */
  #makeRoom(newest: Connection): boolean {
    const largest = [...this.#strangers.values()].reduce<Set<Connection>>(
      (most, group) => (group.size > most.size ? group : most),
      new Set(),
    )
    const findWaiting = (group: Iterable<Connection>) => {
      for (const one of group) if (one !== newest && waitsForClient(one)) return one
      return undefined
    }
    const victim = findWaiting(largest) ?? findWaiting(this.#all.values())
    if (victim !== undefined) this.#close(victim)
    return victim !== undefined
  }

  #close(connection: Connection): void {
    this.closed += 1
    this.#all.delete(connection.socket)
    this.#forget(connection)
    connection.socket.destroy()
  }

  #forget(connection: Connection): void {
    const group = this.#strangers.get(connection.address)
    group?.delete(connection)
    if (group?.size === 0) this.#strangers.delete(connection.address)
  }
}

/**
 * Returns true if the connection waits for its client: no request is in progress, or one without a key is
 * still being sent.
 */
function waitsForClient({ request, isKeyed }: Connection): boolean {
  return request === null || (!isKeyed && !request.complete)
}
