import type { FastifyReply } from 'fastify'

/** Returns a signal that aborts when the client disconnects. */
export function watchDisconnect(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController()
  reply.raw.once('close', () => disconnected.abort())
  return disconnected.signal
}
