import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import { AppError, validationError } from '../../lib/errors.ts'
import { requireText } from './admission.ts'
import { answerRefusal } from './idempotency.ts'
import { checkPart } from './validation.ts'

/** Validates body and query and reports all failures at once. Path parameters were checked at admission. */
export async function checkRequest(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { schema, config } = request.routeOptions
  if (request.is404 || schema === undefined) return undefined
  const { querystring, body } = schema as Record<string, z.ZodType | undefined>
  const { bodyName = 'body', furtherErrors } = config
  try {
    if (querystring !== undefined) {
      requireText(request.query)
      request.query = take(request, checkPart(querystring, request.query, 'query'))
    }
  } catch (refusal) {
    return answerRefusal(request, reply, asRefusal(refusal))
  }
  try {
    if (body !== undefined) {
      request.body = take(request, checkPart(body, request.body, bodyName, config))
    }
    return undefined
  } catch (cause) {
    const refusal = asRefusal(cause)
    const further = (await furtherErrors?.(request)) ?? []
    // These errors depend on stored data, which may have changed when the request is sent again, so the
    // refusal is not stored.
    if (further.length > 0) throw validationError([...(refusal.details.errors ?? []), ...further])
    return answerRefusal(request, reply, refusal)
  }
}

function take<Value>(request: FastifyRequest, checked: { value: Value; warnings: Warning[] }): Value {
  request.warnings.push(...checked.warnings)
  return checked.value
}

function asRefusal(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  throw cause
}
