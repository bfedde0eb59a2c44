import { z } from 'zod'
import { TEXT_OPERATORS } from './text-operators.ts'

const SEARCH_OPERATORS: ReadonlySet<string> = new Set(TEXT_OPERATORS)

/** The maximum length of a text that is searched for within others. A text that is only compared may be longer. */
export const MAX_SEARCHED = 1000

/** Returns the error for a search text that is too long, or undefined. */
export function checkSearchText(operator: string, values: readonly unknown[]): string | undefined {
  const isLong = values.some((value) => typeof value === 'string' && value.length > MAX_SEARCHED)
  return SEARCH_OPERATORS.has(operator) && isLong
    ? `\`${operator}\` takes at most ${MAX_SEARCHED} characters`
    : undefined
}

/** Pairs of synonyms: row filters accept the operators of conditions, and the other way round. */
const SYNONYMS = [
  ['is', 'is equal to'],
  ['is not', 'not equal to'],
  ['is not empty', 'not empty'],
  ['greater than or equal to', 'greater than or equals to'],
  ['less than or equal to', 'less than or equals to'],
] as const

/** Returns a schema that accepts the operators and their synonyms, and returns the operator in its listed form. */
export function operatorSchema<const Word extends string>(words: readonly [Word, ...Word[]]) {
  const isWord = (text: string): text is Word => words.some((word) => word === text)
  const aliases = SYNONYMS.flatMap(([one, other]): [string, Word][] => [
    ...(isWord(one) ? [[other, one] as [string, Word]] : []),
    ...(isWord(other) ? [[one, other] as [string, Word]] : []),
  ])
  const wordByAlias = new Map(aliases.filter(([alias]) => !isWord(alias)))
  const error = (issue: { input?: unknown }) =>
    issue.input === undefined ? 'required' : `must be one of: ${words.join(', ')}`
  const accepted: readonly string[] = [...words, ...wordByAlias.keys()]
  return z
    .enum(accepted, { error })
    .transform((text): string => wordByAlias.get(text) ?? text)
    .pipe(z.enum(words))
}
