import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import { AppError, validationError } from '../../lib/errors.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { requireText } from './admission.ts'
import { answerRefusal } from './idempotency.ts'
import { checkPart } from './validation.ts'

/** Body and query, each failure at once. Path parameters were checked at admission. */
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
    if (body !== undefined)
      request.body = take(request, checkPart(body, withPlainCap(request.body), bodyName, config.spends))
    return undefined
  } catch (cause) {
    const refusal = asRefusal(cause)
    const further = (await furtherErrors?.(request)) ?? []
    // What is wrong with it as things are now may be mended by the time that it is sent again.
    if (further.length > 0) throw validationError([...(refusal.details.errors ?? []), ...further])
    return answerRefusal(request, reply, refusal)
  }
}

/** Where numbers arrive as their texts, those of rows are kept so; the cap of what they start is a number. */
function withPlainCap(body: unknown): unknown {
  if (!isObject(body) || !(body['max_credits'] instanceof NumberText)) return body
  return { ...body, max_credits: Number(body['max_credits'].source) }
}

function take<Value>(request: FastifyRequest, checked: { value: Value; warnings: Warning[] }): Value {
  request.warnings.push(...checked.warnings)
  return checked.value
}

function asRefusal(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  throw cause
}
