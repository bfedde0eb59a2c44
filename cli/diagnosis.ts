import { isUnavailable } from '#server/database/connection/db.ts'
import { FolderBusyError } from '#server/database/embedded/lock.ts'
import { ConfigError } from '#server/lib/config/config.ts'
import { AppError, reasonOf } from '#server/lib/errors.ts'
import { APIError, ConnectionError } from '../sdk/src/errors.ts'
import { EXIT, type Failure } from './failure.ts'
import { describeApiFailure } from './remote/failures.ts'

/** An error for a database, or its data folder, that cannot be used now. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
}

export function describeFailure(cause: unknown): Failure {
  const stack = cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {}
  return { ...classify(cause), ...stack }
}

function classify(cause: unknown): Failure {
  const message = reasonOf(cause)
  if (cause instanceof AppError) {
    const { errors } = cause.details
    const failure = { exit: chooseExitCode(cause.status), error: cause.code, message }
    return errors === undefined ? failure : { ...failure, errors }
  }
  if (cause instanceof APIError) return describeApiFailure(cause)
  if (cause instanceof ConnectionError)
    return { exit: EXIT.unavailable, error: 'Service Unavailable', message }
  if (cause instanceof ConfigError) {
    const errors = message.split('\n').map((line) => {
      const [field = '', ...words] = line.split(': ')
      return { field, message: words.join(': ') }
    })
    return { exit: EXIT.usage, error: 'Configuration Error', message: 'The settings are wrong', errors }
  }
  if (cause instanceof UnreachableError || isUnavailable(cause) || cause instanceof FolderBusyError) {
    return { exit: EXIT.unavailable, error: 'Service Unavailable', message }
  }
  return { exit: EXIT.failed, error: 'Error', message }
}

function chooseExitCode(status: number): number {
  if (status === 400 || status === 422) return EXIT.usage
  if (status === 404) return EXIT.notFound
  if (status === 409) return EXIT.conflict
  if (status === 401) return EXIT.refused
  return status === 503 ? EXIT.unavailable : EXIT.failed
}
