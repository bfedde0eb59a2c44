import type { IncomingMessage } from 'node:http'
import type { Api } from '../services.ts'

/**
 * The limits of how much of a refused body is read, and for how long. Without reading it, a client that sends
 * first would never read the answer.
 */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_MS = 10_000
const CHECK_MS = 50

type Refused = { request: IncomingMessage; bytes: number; since: number }

/**
 * Discards the rest of a body whose request is answered before it has arrived, as 401, 404, 413 and 429 are.
 * Closes the connection if the rest is more than 64 MiB or takes longer than 10 s (D91).
 */
export function discardRefusedBodies(app: Api): void {
  const discarding = new Set<Refused>()
  let timer: NodeJS.Timeout | undefined

  function check(): void {
    const now = performance.now()
    for (const refused of discarding) {
      const { request, bytes, since } = refused
      const { socket } = request
      const isOver = now - since >= MAX_MS || socket.bytesRead - bytes > MAX_BYTES
      if (!request.complete && !socket.destroyed && !isOver) continue
      discarding.delete(refused)
      if (isOver && !request.complete) socket.destroy()
    }
    if (discarding.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  app.server.on('request', (request, response) => {
    response.once('finish', () => {
      if (request.complete) return
      // The stream may raise an error because its reader has stopped.
      request.on('error', () => undefined).resume()
      discarding.add({ request, bytes: request.socket.bytesRead, since: performance.now() })
      timer ??= setInterval(check, CHECK_MS).unref()
    })
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
