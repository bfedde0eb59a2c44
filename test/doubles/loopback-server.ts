import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type LoopbackServer = {
  port: number
  origin: string
  /** Return the number of connections accepted so far, and of those that are still open. */
  accepted: () => number
  open: () => number
  close: () => Promise<void>
}

/** Starts a real HTTP server on loopback that is closed at the end of the test. */
export function serveHttp(listener: RequestListener, host = '127.0.0.1'): Promise<LoopbackServer> {
  return listen(createHttpServer(listener), host)
}

/** Starts a server that may send anything on the bare connection. */
export function serveRaw(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<LoopbackServer> {
  return listen(createServer(onSocket), host)
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<LoopbackServer> {
  const sockets = new Set<Socket>()
  let accepted = 0
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    // The tests examine what clients see when connections break, so the server ignores broken connections.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve)
  })
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    accepted: () => accepted,
    open: () => sockets.size,
    close,
  }
}
