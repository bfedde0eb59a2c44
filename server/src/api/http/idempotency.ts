import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalid } from '../../lib/errors.ts'
import {
  claimCall,
  type IdempotentCall,
  releaseCall,
  settleCall,
} from '../../store/organisation/idempotency.ts'

const HEADER = 'idempotency-key'

/** Runs after validation: a call that was refused for its shape has not used its key. */
export async function claimIdempotencyKey(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const call = callOf(request)
  if (call === undefined) return undefined
  const claim = await claimCall(request.db, call)
  switch (claim.state) {
    case 'ours':
      request.idempotentCall = call
      return undefined
    case 'in_progress':
      throw new AppError(
        'Conflict',
        'A request with this Idempotency-Key is being worked on. Try again shortly',
      )
    case 'other_payload':
      throw new AppError(
        'Unprocessable Entity',
        'This Idempotency-Key was used with another request. Use a new key for a new request',
      )
    case 'done':
      return reply
        .code(claim.status)
        .header('idempotency-replayed', 'true')
        .type('application/json; charset=utf-8')
        .send(claim.body)
  }
}

/**
 * Keeps the answer for replays. What was refused gives the key back: it changed nothing, and what it was refused for, such as
 * credits or an import under way, may be mended by the time it is tried again.
 */
export async function settleIdempotencyKey(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const call = request.idempotentCall
  if (call === null) return payload
  request.idempotentCall = null
  if (reply.statusCode >= 400 || typeof payload !== 'string') await releaseCall(request.db, call)
  else await settleCall(request.db, call, reply.statusCode, payload)
  return payload
}

function callOf(request: FastifyRequest): IdempotentCall | undefined {
  const key = request.headers[HEADER]
  if (key === undefined || !['POST', 'PATCH'].includes(request.method)) return undefined
  // Keys are kept by caller; where nobody is known, the route itself answers for repetitions.
  if (request.caller === undefined) return undefined
  if (typeof key !== 'string' || key.length === 0 || key.length > 255) {
    throw invalid('Idempotency-Key', 'must be one header of 1 to 255 characters')
  }
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n${request.bodyText}`)
    .digest()
  return { orgId: request.caller.orgId, memberId: request.caller.memberId, key, fingerprint }
}
