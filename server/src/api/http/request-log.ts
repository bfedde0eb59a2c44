import type { FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '../../lib/ids.ts'

/** Returns the caller's own request id if it is safe to log, else a new one. */
export function requestId(raw: { headers: Record<string, string | string[] | undefined> }): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newId()
}

export async function logRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.log.info(
    {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      org_id: request.caller?.orgId,
      key_id: request.caller?.keyId,
    },
    'request',
  )
}
