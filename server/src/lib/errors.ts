import { ERROR_STATUS, type ErrorCode, type FieldError } from '#contract/errors.ts'
import { plural } from './plural.ts'

export type ErrorDetails = {
  errors?: FieldError[]
  /** The named code of a 400 response, in addition to the fixed `error` (D5). */
  code?: string
  retryAfter?: number
}

/**
 * The only error that is meant for a caller. Any other error that is thrown is a bug, and the response is a
 * 500.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

const MAX_REPORTED = 100
const MAX_FIELD = 300
const MAX_WORDS = 2000
/** The limit of all errors together, in bytes of JSON. */
const MAX_BYTES = 512 * 1024

/**
 * Returns an error that lists all failures, but at most a hundred: a caller who sent half a million of them
 * has not written them by hand.
 */
export function validationError(errors: FieldError[], code?: string): AppError {
  const max = errors.length <= MAX_REPORTED ? MAX_REPORTED : MAX_REPORTED - 1
  const reported: FieldError[] = []
  let bytes = 0
  for (const { field, message } of errors.slice(0, max)) {
    const error = { field: shorten(field, MAX_FIELD), message: shorten(message, MAX_WORDS) }
    bytes += Buffer.byteLength(JSON.stringify(error))
    if (bytes > MAX_BYTES) break
    reported.push(error)
  }
  const more = errors.length - reported.length
  if (more > 0) reported.push({ field: 'errors', message: `and ${more} more` })
  return new AppError('Validation Error', `${errors.length} validation errors`, {
    errors: reported,
    ...(code === undefined ? {} : { code }),
  })
}

/**
 * Shortens a text that appears in messages and field names. A text of a caller may be as long as a whole
 * request body.
 */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`
}

export function invalid(field: string, message: string): AppError {
  return validationError([{ field, message }])
}

export function notFound(what: string): AppError {
  return new AppError('Not Found', `${what} not found`)
}

/** Returns a 429 that may be retried after this many seconds. */
export function tooManyRequests(message: string, retryAfter: number): AppError {
  return new AppError('Too Many Requests', message, { retryAfter })
}

/** Returns the 429 of a rate limit that counts requests. */
export function rateLimitExceeded(limit: number, period: 'minute' | 'day', retryAfter: number): AppError {
  const message = `Rate limit of ${plural(limit, 'request')} per ${period} exceeded. Try again in ${plural(retryAfter, 'second')}`
  return tooManyRequests(message, retryAfter)
}

export function forbidden(message: string): AppError {
  return new AppError('Forbidden', message)
}

/** Returns the message of an unknown failure, for logs and messages. */
export function reasonOf(error: unknown): string {
  // A refused connection to a name with several addresses has no message of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Returns the code of a system or database error, such as ENOENT. Returns an empty text if there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
