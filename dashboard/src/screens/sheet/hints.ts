import type { CellStatus } from './filter-words.ts'

/** What usually helps, by what the error says. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /rate.?limit|too many requests|\b429\b/i,
    'The other side asks for fewer calls. Run the failed rows again later.',
  ],
  [
    /time.?out|timed out|did not answer/i,
    'It did not answer in time. Run the cell again, or raise its limit where it has one.',
  ],
  [
    /unauthori[sz]ed|invalid.*key|\b401\b|\b403\b|forbidden/i,
    'Look at the key or the connection under Settings, Connections.',
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
    'The formula has a mistake: open Configure and mend it, then run the cell again.',
  ],
  [/resolve|no such host|dns|ENOTFOUND/i, 'The address could not be reached. Check how it is spelt.'],
  [
    /required|must be|missing/i,
    'Fill the value that it names, in the row or under Configure, then run the cell again.',
  ],
]

export function hintOf(status: CellStatus, error: string): string {
  const known = HINTS.find(([pattern]) => pattern.test(error))?.[1]
  if (known !== undefined) return known
  return status === 'error'
    ? 'The cell could not be run as it is configured. Open Configure, mend what the error names, then run it again.'
    : 'Look at the values of the row, mend them or the configuration, then run the cell again.'
}
