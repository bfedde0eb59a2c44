import { z } from 'zod'
import { TEXT_OPERATORS } from './text-operators.ts'

const SEARCHING: ReadonlySet<string> = new Set(TEXT_OPERATORS)

/** Characters of a text that is looked for within others. What is only compared may be longer. */
export const MAX_SEARCHED = 1000

/** Returns why a text cannot be looked for; undefined if it can. */
export function refuseSearched(operator: string, values: readonly unknown[]): string | undefined {
  const isLong = values.some((value) => typeof value === 'string' && value.length > MAX_SEARCHED)
  return SEARCHING.has(operator) && isLong
    ? `\`${operator}\` takes at most ${MAX_SEARCHED} characters`
    : undefined
}

/** Words that mean the same: row filters and conditions accept each other's. */
const SAME = [
  ['is', 'is equal to'],
  ['is not', 'not equal to'],
  ['is not empty', 'not empty'],
  ['greater than or equal to', 'greater than or equals to'],
  ['less than or equal to', 'less than or equals to'],
] as const

/** One of the words, or another way to say it. Answered is the word that is listed. */
export function operatorOf<const Word extends string>(words: readonly [Word, ...Word[]]) {
  const isWord = (text: string): text is Word => words.some((word) => word === text)
  const aliases = SAME.flatMap(([one, other]): [string, Word][] => [
    ...(isWord(one) ? [[other, one] as [string, Word]] : []),
    ...(isWord(other) ? [[one, other] as [string, Word]] : []),
  ])
  const meaning = new Map(aliases.filter(([alias]) => !isWord(alias)))
  const error = (issue: { input?: unknown }) =>
    issue.input === undefined ? 'required' : `must be one of: ${words.join(', ')}`
  const accepted: readonly string[] = [...words, ...meaning.keys()]
  return z
    .enum(accepted, { error })
    .transform((text): string => meaning.get(text) ?? text)
    .pipe(z.enum(words))
}
