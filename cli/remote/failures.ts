import type { APIError } from '../../sdk/src/errors.ts'
import { EXIT, type Failure } from '../failure.ts'

/** The exit codes of answers of a server, beside those of 400, 404 and 409. */
const EXIT_BY_STATUS: Record<number, number> = {
  400: EXIT.usage,
  401: EXIT.refused,
  402: EXIT.limit,
  403: EXIT.refused,
  404: EXIT.notFound,
  409: EXIT.conflict,
  413: EXIT.limit,
  422: EXIT.usage,
  429: EXIT.limit,
}

/** Returns the failure of an answer of the server. */
export function describeApiFailure({ status, code, errors, message }: APIError): Failure {
  const exit = EXIT_BY_STATUS[status] ?? (status >= 500 ? EXIT.unavailable : EXIT.failed)
  return { exit, error: code, message, ...(errors.length > 0 ? { errors } : {}) }
}
