import type { CellStatus } from './filter-words.ts'

/** Hints by the text of the error. The first pattern that matches wins. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /rate.?limit|too many requests|\b429\b/i,
    'The service received too many requests. Run the failed rows again later.',
  ],
  [
    /time.?out|timed out|did not answer/i,
    'The service did not respond in time. Run the cell again, or raise the timeout of the action if it has one.',
  ],
  [
    /unauthori[sz]ed|invalid.*key|\b401\b|\b403\b|forbidden/i,
    'Check the key or the connection under Settings, Connections.',
  ],
  [
    /connection|not connected/i,
    'Add or choose a connection under Settings, Connections, then run the cell again.',
  ],
  [/environment variable|env\./i, 'Set the variable under Settings, Environment, then run the cell again.'],
  [
    /undefined|null|is not a function|cannot read/i,
    'A value that the formula expects is missing in this row. Give it a fallback, such as ({{input.name}} ?? "").',
  ],
  [
    /syntax|unexpected token/i,
    'The formula has a syntax error. Open Configure and correct it, then run the cell again.',
  ],
  [/resolve|no such host|dns|ENOTFOUND/i, 'The address could not be reached. Check its spelling.'],
  [
    /required|must be|missing/i,
    'Fill in the value named in the error, in the row or under Configure, then run the cell again.',
  ],
]

export function findHint(status: CellStatus, error: string): string {
  const known = HINTS.find(([pattern]) => pattern.test(error))?.[1]
  if (known !== undefined) return known
  return status === 'error'
    ? 'The action could not run with its configuration. Open Configure, correct what the error names, then run the cell again.'
    : 'Check the values of the row, correct them or the configuration, then run the cell again.'
}
