import type { FieldError } from '#contract/errors.ts'
import type { Terminal } from './terminal.ts'

export const EXIT = {
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unavailable: 5,
  refused: 6,
  limit: 7,
  differences: 9,
} as const

/** The failure of a command. `exit` is one of the codes that `loam --help` lists. */
export type Failure = { exit: number; error: string; message: string; errors?: FieldError[]; stack?: string }

/** Prints a failure on stderr and returns the exit code. */
export function printFailure(
  { exit, stack, ...failure }: Failure,
  { stderr, env }: Terminal,
  json: boolean,
): number {
  const lines = failure.errors?.map(({ field, message }) => `${field}: ${message}`) ?? [failure.message]
  stderr.write(json ? `${JSON.stringify(failure)}\n` : lines.map((line) => `loam: ${line}\n`).join(''))
  const wanted = env['LOAM_LOG_LEVEL']
  if (stack !== undefined && (wanted === 'debug' || wanted === 'trace')) stderr.write(`${stack}\n`)
  return exit
}
