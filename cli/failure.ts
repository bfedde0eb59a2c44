import type { FieldError } from '#contract/errors.ts'
import { ConfigError } from '#server/lib/config.ts'
import { AppError, reasonOf } from '#server/lib/errors.ts'
import { isUnavailable } from '#server/store/db.ts'

const EXIT = { failed: 1, usage: 2, notFound: 3, conflict: 4, unavailable: 5 } as const

/** How a command failed; `exit` is one of the codes that `loam --help` lists. */
export type Failure = { exit: number; error: string; message: string; errors?: FieldError[]; stack?: string }

/** The database, or the data folder it is in, cannot be used now. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
}

export function describeMisuse(message: string): Failure {
  return { exit: EXIT.usage, error: 'Usage Error', message: message.replace(/^error: /, '') }
}

export function describeFailure(cause: unknown): Failure {
  const message = wordsOf(cause)
  const stack = cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {}
  if (cause instanceof AppError) {
    const { errors } = cause.details
    return {
      exit: exitOfStatus(cause.status),
      error: cause.code,
      message,
      ...(errors === undefined ? {} : { errors }),
      ...stack,
    }
  }
  if (cause instanceof ConfigError) {
    const errors = message.split('\n').map((line) => {
      const [field = '', ...words] = line.split(': ')
      return { field, message: words.join(': ') }
    })
    return {
      exit: EXIT.usage,
      error: 'Configuration Error',
      message: 'The settings are wrong',
      errors,
      ...stack,
    }
  }
  if (cause instanceof UnreachableError || isUnavailable(cause) || isBusy(message)) {
    return { exit: EXIT.unavailable, error: 'Service Unavailable', message, ...stack }
  }
  return { exit: EXIT.failed, error: 'Error', message, ...stack }
}

/** Says what went wrong on stderr and answers the exit code. */
export function printFailure({ exit, stack, ...failure }: Failure, json: boolean): number {
  const lines =
    failure.errors?.map(({ field, message }) => `${field}: ${message}`) ?? failure.message.split('\n')
  process.stderr.write(
    json ? `${JSON.stringify(failure)}\n` : lines.map((line) => `loam: ${line}\n`).join(''),
  )
  const wanted = process.env['LOAM_LOG_LEVEL']
  if (stack !== undefined && (wanted === 'debug' || wanted === 'trace')) process.stderr.write(`${stack}\n`)
  return exit
}

/** A refused connection to a name with several addresses says nothing of its own. */
export function wordsOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(reasonOf).join('; ')
  return reasonOf(cause)
}

function exitOfStatus(status: number): number {
  if (status === 400 || status === 422) return EXIT.usage
  if (status === 404) return EXIT.notFound
  if (status === 409) return EXIT.conflict
  return status === 503 ? EXIT.unavailable : EXIT.failed
}

function isBusy(message: string): boolean {
  return message.includes('is running on the data folder')
}
