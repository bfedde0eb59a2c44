import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import type { Egress } from '../../../../lib/egress/egress.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** The headers that only concern one connection and are not forwarded. */
const HOP_HEADERS = new Set([
  'proxy-connection',
  'proxy-authorization',
  'connection',
  'keep-alive',
  'te',
  'upgrade',
])

export type BrowserProxy = { port: number; close: () => Promise<void> }

/** The connections of a proxy, with their limits. */
type Connections = ReturnType<typeof createConnections>

/**
 * Opens the proxy that is a browser's only way out. Egress opens every connection, so that none reaches a private
 * address.
 */
export async function openProxy(egress: Egress, signal: AbortSignal, limits: Limits): Promise<BrowserProxy> {
  const connections = createConnections(egress, signal, limits)
  const server = createServer((request, response) => {
    pass(connections, request, response).catch(() => response.destroy())
  })
  server.on('connection', connections.keep)
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(connections, request, client, head).catch(() => client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      connections.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

type Limits = { maxRequests: number; maxBytes: number }

function createConnections(egress: Egress, signal: AbortSignal, { maxRequests, maxBytes }: Limits) {
  const open = new Set<Duplex>()
  let connections = 0
  let bytes = 0
  const keep = <Kind extends Duplex>(socket: Kind): Kind => {
    open.add(socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket)))
    return socket
  }
  return {
    /** Notes a socket, so that it ends with the proxy. */
    keep,
    /** Opens a connection, or returns null if it is not allowed or has failed. */
    connect: async ({ hostname, port }: URL): Promise<Socket | null> => {
      connections += 1
      if (connections > maxRequests || bytes > maxBytes || signal.aborted) return null
      const host = hostname.replace(/^\[|\]$/g, '')
      const timeoutMs = CONNECT_TIMEOUT_MS
      const opened = await egress.tunnel({ host, port: Number(port || 80), timeoutMs, signal })
      return opened.ok ? keep(opened.socket) : null
    },
    /** Counts the bytes of a stream, and ends it beyond the limit of all. */
    count: (stream: Readable) =>
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxBytes) stream.destroy()
      }),
    destroy: () => {
      for (const socket of open) socket.destroy()
    },
  }
}

/** Passes the bytes of an HTTPS connection in both directions. */
async function tunnel(
  { connect, count }: Connections,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const target = URL.parse(`http://${request.url ?? ''}`)
  const socket = target && (await connect(target))
  if (socket === null) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  socket.write(head)
  client.pipe(socket)
  count(socket).pipe(client)
  client.once('close', () => socket.destroy())
  socket.once('close', () => client.destroy())
}

/** Passes an HTTP request on, and its reply back. */
async function pass(
  { connect, count }: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = URL.parse(request.url ?? '')
  const isWeb = target?.protocol === 'http:'
  const socket = isWeb ? await connect(target) : null
  if (target === null || socket === null) return void response.writeHead(403).end()
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.has(name)),
  )
  const onward = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path: `${target.pathname}${target.search}`,
    headers: { ...headers, host: target.host, connection: 'close' },
  })
  onward.once('response', (reply) => {
    // A server may send any number as its status, and writeHead would throw on an invalid one.
    const status = reply.statusCode ?? 0
    if (status < 200 || status > 599) return void response.destroy()
    response.writeHead(status, reply.headers)
    // A reply that was cut off must not look complete.
    reply.once('close', () => {
      if (!reply.readableEnded) response.destroy()
    })
    count(reply).pipe(response)
  })
  onward.on('error', () => response.destroy())
  socket.once('close', () => {
    if (!response.headersSent) response.destroy()
  })
  response.once('close', () => socket.destroy())
  request.pipe(onward)
}
