import type { Socket } from 'node:net'
import type { Api } from '../services.ts'

const GRACE_MS = 100

/**
 * Closes connections without a request in progress while the server closes. Closing waits for every
 * connection, and Node ends only those that are idle at that moment: a connection that has never sent
 * anything, or is answered later, would keep the server open.
 */
export function endConnectionsOnClose(app: Api): void {
  const inProgress = new Map<Socket, number>()
  app.server.on('connection', (socket) => {
    inProgress.set(socket, 0)
    socket.once('close', () => inProgress.delete(socket))
  })
  app.server.on('request', ({ socket }, response) => {
    inProgress.set(socket, (inProgress.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const count = inProgress.get(socket)
      if (count !== undefined) inProgress.set(socket, count - 1)
    })
  })
  app.addHook('preClose', async () => {
    if (!app.server.listening) return
    // Bytes sent before the shutdown began are read within the first interval.
    const timer = setInterval(() => {
      for (const [socket, count] of inProgress) if (count === 0) socket.destroySoon()
    }, GRACE_MS)
    app.server.once('close', () => clearInterval(timer))
  })
}
