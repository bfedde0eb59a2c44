import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { AppError, validationError } from '../../lib/errors.ts'
import { requireText } from './admission.ts'
import { checkPart } from './validation.ts'

/** Body and query, each failure at once. Path parameters were checked at admission. */
export async function checkRequest(request: FastifyRequest): Promise<void> {
  const { schema } = request.routeOptions
  if (request.is404 || schema === undefined) return
  if (schema.querystring !== undefined) {
    requireText(request.query)
    const checked = checkPart(schema.querystring as z.ZodType, request.query, 'query')
    request.query = checked.value
    request.warnings.push(...checked.warnings)
  }
  if (schema.body !== undefined) {
    const checked = await checkBody(request, schema.body as z.ZodType)
    request.body = checked.value
    request.warnings.push(...checked.warnings)
  }
}

async function checkBody(request: FastifyRequest, schema: z.ZodType) {
  const { bodyName = 'body', furtherErrors } = request.routeOptions.config
  try {
    return checkPart(schema, request.body, bodyName)
  } catch (refusal) {
    if (!(refusal instanceof AppError) || furtherErrors === undefined) throw refusal
    const further = await furtherErrors(request)
    throw further.length === 0 ? refusal : validationError([...(refusal.details.errors ?? []), ...further])
  }
}
