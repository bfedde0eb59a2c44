/** The codes of errors that the API documents. A proxy in between may answer with others. */
export type ErrorCode =
  | 'Validation Error'
  | 'Unauthorized'
  | 'INSUFFICIENT_CREDITS'
  | 'MAX_CREDITS_REACHED'
  | 'BUDGET_REACHED'
  | 'Forbidden'
  | 'INSUFFICIENT_SCOPE'
  | 'CSRF'
  | 'Not Found'
  | 'Conflict'
  | 'ALREADY_INVITED'
  | 'ALREADY_MEMBER'
  | 'NOTHING_TO_RESTORE'
  | 'CANNOT_KEEP'
  | 'MEMBER_LIMIT_REACHED'
  | 'NO_MAIL_SERVER'
  | 'SECRET_UNREADABLE'
  | 'ROW_LIMIT_REACHED'
  | 'STORAGE_LIMIT_REACHED'
  | 'Gone'
  | 'ORDER_EXPIRED'
  | 'Payload Too Large'
  | 'Unsupported Media Type'
  | 'Range Not Satisfiable'
  | 'Unprocessable Entity'
  | 'Too Many Requests'
  | 'RATE_LIMITED'
  | 'Internal Server Error'
  | 'AGENT_INTERNAL_ERROR'
  | 'AGENT_EXECUTION_FAILED'
  | 'Service Unavailable'
  | 'AGENT_BUSY'
  | 'AGENT_TIMEOUT'

/** One invalid field of a request, such as `inputs[0].type`. */
export type FieldError = { field: string; message: string }

/** The base of every error that the SDK throws. */
export class LoamError extends Error {
  override name = 'LoamError'
}

export type APIErrorFields = {
  status: number
  /** The `error` of the answer, such as `ROW_LIMIT_REACHED`. */
  code: ErrorCode | (string & {})
  message: string
  /** Every invalid field; empty for errors other than 400. */
  errors: FieldError[]
  requestId: string | null
  /** The seconds to wait, where the server named them. */
  retryAfter: number | null
}

/** An answer of the server that is an error. */
export class APIError extends LoamError implements APIErrorFields {
  override name = 'APIError'
  readonly status: number
  readonly code: APIErrorFields['code']
  readonly errors: FieldError[]
  readonly requestId: string | null
  readonly retryAfter: number | null

  constructor(fields: APIErrorFields) {
    super(fields.message)
    this.status = fields.status
    this.code = fields.code
    this.errors = fields.errors
    this.requestId = fields.requestId
    this.retryAfter = fields.retryAfter
  }
}

export class ValidationError extends APIError {
  override name = 'ValidationError'
}
export class AuthenticationError extends APIError {
  override name = 'AuthenticationError'
}
export class CreditsError extends APIError {
  override name = 'CreditsError'
}
export class PermissionError extends APIError {
  override name = 'PermissionError'
}
export class NotFoundError extends APIError {
  override name = 'NotFoundError'
}
export class ConflictError extends APIError {
  override name = 'ConflictError'
}
export class PayloadTooLargeError extends APIError {
  override name = 'PayloadTooLargeError'
}
export class IdempotencyError extends APIError {
  override name = 'IdempotencyError'
}
export class RateLimitError extends APIError {
  override name = 'RateLimitError'
}
export class ServerError extends APIError {
  override name = 'ServerError'
}

/** A call without a usable answer: the server cannot be reached, or its answer was cut short or is no JSON. */
export class ConnectionError extends LoamError {
  override name = 'ConnectionError'
}
/** The server did not answer completely within `timeout`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}
/** The caller's signal ended the call. */
export class AbortError extends LoamError {
  override name = 'AbortError'
}
/** The end of the waiting of `runAndWait` and the like: the work did not end within `waitTimeout`; it continues on the server. */
export class WaitTimeoutError extends LoamError {
  override name = 'WaitTimeoutError'
}
/** A webhook whose signature, time or headers are wrong. */
export class WebhookVerificationError extends LoamError {
  override name = 'WebhookVerificationError'
}

const BY_STATUS: Record<number, typeof APIError> = {
  400: ValidationError,
  401: AuthenticationError,
  402: CreditsError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: PayloadTooLargeError,
  422: IdempotencyError,
  429: RateLimitError,
}

type ErrorAnswer = { error?: unknown; message?: unknown; errors?: unknown; retryAfter?: unknown }

/** Returns the error of an answer; `body` is its JSON, or undefined if it has none. */
export function toApiError(response: Response, body: unknown): APIError {
  const { status } = response
  const answer: ErrorAnswer = typeof body === 'object' && body !== null ? body : {}
  const errors = Array.isArray(answer.errors) ? (answer.errors as FieldError[]) : []
  const text =
    typeof answer.message === 'string'
      ? answer.message
      : `The server answered ${status} ${response.statusText}`.trim()
  const named = errors.map(({ field, message }) => `${field}: ${message}`)
  const Class = BY_STATUS[status] ?? (status >= 500 ? ServerError : APIError)
  return new Class({
    status,
    code: typeof answer.error === 'string' ? answer.error : `HTTP ${status}`,
    message: named.length === 0 ? text : `${text}: ${named.join('; ')}`,
    errors,
    requestId: response.headers.get('x-request-id'),
    retryAfter: readRetryAfter(response.headers) ?? toSeconds(answer.retryAfter),
  })
}

/** Returns the seconds of a Retry-After header, which has seconds or a date. */
export function readRetryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  const date = text === '' ? Number.NaN : Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000)
}

const toSeconds = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : null)
