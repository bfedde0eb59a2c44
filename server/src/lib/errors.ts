import { ERROR_STATUS, type ErrorCode, type FieldError } from '#contract/errors.ts'

export type ErrorDetails = {
  errors?: FieldError[]
  /** Named code of a 400, beside the fixed `error` (D5). */
  code?: string
  retryAfter?: number
}

/** The one error that is meant for a caller. Anything else that is thrown is our fault and answers 500. */
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

export function validationError(errors: FieldError[], code?: string): AppError {
  return new AppError('Validation Error', `${errors.length} validation errors`, {
    errors,
    ...(code === undefined ? {} : { code }),
  })
}

export function invalid(field: string, message: string): AppError {
  return validationError([{ field, message }])
}

export function notFound(what: string): AppError {
  return new AppError('Not Found', `${what} not found`)
}

export function forbidden(message: string): AppError {
  return new AppError('Forbidden', message)
}

/** The words of an unknown failure, for logs and messages. */
export function reasonOf(error: unknown): string {
  // A refused connection to a name with several addresses says nothing of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
