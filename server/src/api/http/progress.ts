import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../services.ts'
import { rawErrorAnswer } from './errors.ts'

/** The number of bytes of a body that must arrive within the time limit to count as progress. */
const MIN_BYTES = 1024
const CHECKS_PER_LIMIT = 6
/** The longest time for headers, which are only a few kilobytes whatever the limit for bodies is. */
const MAX_HEADERS_MS = 120_000

/** A request or an answer in transit: the bytes transferred, and the time of the last sufficient progress. */
type Passage = { request: IncomingMessage; response: ServerResponse; bytes: number; since: number }

/**
 * Closes connections whose request body stops arriving or whose answer is not read, after `limitMs` without
 * progress. Requests that wait for this server are left alone, and so are idle event streams. Headers have
 * Node's own limit.
 */
export function endStalledRequests(app: Api, limitMs: number): void {
  const passages = new Set<Passage>()
  app.server.headersTimeout = Math.min(limitMs, MAX_HEADERS_MS)
  app.server.on('request', (request, response) => {
    const passage = { request, response, bytes: 0, since: performance.now() }
    passages.add(passage)
    response.once('close', () => passages.delete(passage))
  })
  const timer = setInterval(() => {
    const now = performance.now()
    for (const passage of passages) {
      if (!isStalled(passage, now, limitMs)) continue
      passages.delete(passage)
      endPassage(passage)
    }
  }, limitMs / CHECKS_PER_LIMIT)
  timer.unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

function isStalled(passage: Passage, now: number, limitMs: number): boolean {
  const { request, response } = passage
  const { socket } = request
  const isArriving = !request.complete && !response.headersSent
  const isLeaving = socket.writableLength > 0
  const bytes = isArriving ? socket.bytesRead : socket.bytesWritten - socket.writableLength
  const enough = isArriving ? MIN_BYTES : 1
  if ((!isArriving && !isLeaving) || Math.abs(bytes - passage.bytes) >= enough) {
    passage.bytes = bytes
    passage.since = now
  }
  return now - passage.since >= limitMs
}

function endPassage({ request: { socket }, response }: Passage): void {
  if (!response.headersSent && socket.writable) socket.end(rawErrorAnswer(408), () => socket.destroy())
  else socket.destroy()
}
