import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isUnavailable } from '../../database/connection/db.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import { OverloadError } from '../load/overload.ts'
import { findBodyLimits, refuseMediaType, bodyTooLarge } from './body.ts'
import { sendPage } from './page.ts'

/** The code of PostgreSQL for a statement that exceeded its time limit or was cancelled by an operator. */
const CANCELLED = '57014'
const TOO_LONG =
  'The database took too long over this request and ended it. Ask for less at once, such as fewer rows or a narrower filter, or try again later'

/**
 * Sends the error envelope for anything thrown. Unexpected errors become a fixed 500; their cause is
 * only logged.
 */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const known = asAppError(error, request)
  if (known.status >= 500 && !(error instanceof OverloadError))
    request.log.error({ err: error, request_id: request.id }, 'request failed')
  // Fastify would close the connection while the body is still being sent, and the client would not read the
  // answer.
  if (!request.raw.complete) void reply.removeHeader('connection')
  const { retryAfter } = known.details
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  void reply.code(known.status).type('application/json; charset=utf-8').send(errorBody(known, request))
}

/** Returns the envelope of an error. */
export function errorBody(error: AppError, { id, routeOptions }: FastifyRequest): Record<string, unknown> {
  const { errors, retryAfter } = error.details
  const { namesRequest, codeOfBadBody } = routeOptions.config
  const code = error.details.code ?? (errors === undefined ? undefined : codeOfBadBody?.(errors))
  return {
    status: error.status,
    error: error.code,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(errors === undefined ? {} : { errors }),
    ...(error.status === 429 ? { retryAfter } : {}),
    ...(namesRequest === true ? { request_id: id } : {}),
  }
}

/** Returns the error to show to the caller for anything thrown. */
export function asAppError(error: FastifyError, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error
  if (isUnavailable(error)) {
    return new AppError(
      'Service Unavailable',
      'The database cannot be reached right now. Try again shortly',
      {
        retryAfter: 2,
      },
    )
  }
  if (error.code === CANCELLED) return new AppError('Service Unavailable', TOO_LONG, { retryAfter: 10 })
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(findBodyLimits(request).bytes)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuseMediaType(request)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('body', 'its length differs from the content-length header')
    case 'FST_ERR_BAD_URL':
      return invalid('path', 'must be correctly percent-encoded')
    default:
      return new AppError(
        'Internal Server Error',
        `Something unexpected failed on our side. Request id: ${request.id}`,
      )
  }
}

/** Sends 404 for an unknown address. A browser gets a page with a link home. */
export function handleNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { accept = '' } = request.headers
  const isNavigation = (request.method === 'GET' || request.method === 'HEAD') && accept.includes('text/html')
  if (!isNavigation || /^\/(api|internal|hooks)\//.test(request.originalUrl)) return refuseUnknown(request)
  return sendPage(reply.code(404), 'This page does not exist', LEADING_BACK)
}

const LEADING_BACK = `<p>The address may be mistyped, or the page has been deleted.</p>
<p><a href="/">Go to the start page</a> · <a href="/docs">API reference</a></p>`

/** Throws 404 for an unknown address. */
export function refuseUnknown(request: FastifyRequest): never {
  const path = request.originalUrl.split('?', 1)[0] ?? ''
  if (path.startsWith('/hooks/')) {
    throw new AppError(
      'Not Found',
      request.method === 'POST'
        ? 'There is no webhook at this address: it must end with the token, as it was shown'
        : `Webhooks accept only POST, not ${request.method}`,
    )
  }
  throw new AppError(
    'Not Found',
    `There is no ${request.method} ${hideTokens(path)}. See /docs for the available endpoints`,
  )
}

const TOKEN_CHARS = 30
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Replaces parts of a path that may be secret: addresses of webhooks, pixels, invitations and sign-in links
 * contain a long token.
 */
function hideTokens(path: string): string {
  return path
    .split('/')
    .map((part) => (part.length < TOKEN_CHARS || UUID.test(part) ? part : '[hidden]'))
    .join('/')
}

const RAW_MESSAGES = {
  408: 'The rest of the request did not arrive. Send the request again',
  431: 'The request line and headers are too large',
}

/**
 * Returns the raw HTTP response for a connection without a valid request: a broken request line, headers that
 * are too large, a body that stops arriving.
 */
export function rawErrorAnswer(status: 400 | 408 | 431): string {
  const body =
    status === 400
      ? {
          status,
          error: 'Validation Error',
          message: '1 validation errors',
          errors: [{ field: 'request', message: 'must be well-formed HTTP' }],
        }
      : { status, error: STATUS_CODES[status], message: RAW_MESSAGES[status] }
  const text = JSON.stringify(body)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`
}
