import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Starts an HTTP service on loopback that answers every call with JSON after a delay, and counts the calls.
 * `GET /stats` does not count.
 */
export async function serveProvider(delayMs: number, answer: object = {}) {
  const body = JSON.stringify(answer)
  const stats = { calls: 0, open: 0, peak: 0 }
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/stats') {
      response.end(JSON.stringify(stats))
      return
    }
    stats.calls += 1
    stats.open += 1
    stats.peak = Math.max(stats.peak, stats.open)
    setTimeout(() => {
      stats.open -= 1
      response.end(body)
    }, delayMs)
  })
  // A thousand callers may connect at once.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stats,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
