import { NumberText } from '#contract/number-text.ts'

export { NumberText } from '#contract/number-text.ts'

/** What is stored prints up to twice as long as what was taken; PostgreSQL refuses more than 16,383 digits behind the point. */
const MAX_READ = 5_000

/** Tells whether a number has more digits, or a larger exponent: 1e200000 is as long for PostgreSQL as it is written out. */
export function isLongerThan(source: string, most: number): boolean {
  return source.length > most || Math.abs(Number(/[eE](.+)$/.exec(source)?.[1] ?? 0)) > most
}

/** Something that may be a number outside of strings; matches inside strings only cost time. */
const MAY_HOLD_NUMBER = /(?:^|[[:,])\s*-?\d/
/** Numbers that a double may not give back as they were: 16 digits and more, or an exponent. */
const MAY_LOSE = /(?:\d\.?){16}|\d[eE]/
/**
 * Numbers that a double may print otherwise than they were written: those, and -0, 1.50 and 0.0000001. Looked for where values
 * begin only: ids and prices in texts are common.
 */
const MAY_DIFFER = /(?:^|[[,:])\s*(?:-0(?![.\d])|-?(?:(?:\d\.?){16}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6}))/

/** Parses JSON with every number kept as its source text, since 12345678901234567890 does not survive as a double. */
export function parseWithNumberTexts(text: string): unknown {
  return MAY_HOLD_NUMBER.test(text) ? revive(text, () => true, true) : JSON.parse(text)
}

/** Parses JSON with plain numbers, except where a plain number would not print back as it was. */
export function parseLossless(text: string): unknown {
  return MAY_LOSE.test(text) ? revive(text, (source, value) => source !== String(value)) : JSON.parse(text)
}

/** Plain numbers again, other than those in fields of these names, wherever they stand. */
export function withPlainNumbers(value: unknown, kept: readonly string[] = []): unknown {
  if (value instanceof NumberText) return Number(value.source)
  if (Array.isArray(value)) return value.map((item) => withPlainNumbers(item, kept))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      kept.includes(key) ? item : withPlainNumbers(item, kept),
    ]),
  )
}

/** Parses JSON with plain numbers, except where one would print otherwise than it was written, as 1.50 would (D28). */
export function parseExact(text: string): unknown {
  return MAY_DIFFER.test(text) ? revive(text, (source, value) => source !== String(value)) : JSON.parse(text)
}

type SourceContext = { source?: string }

/** `keepsAbsurd` is for those that say which number they made a text of. */
function revive(
  text: string,
  isText: (source: string, value: number) => boolean,
  keepsAbsurd = false,
): unknown {
  const reviver = (_key: string, value: unknown, context?: SourceContext): unknown => {
    if (typeof value !== 'number') return value
    const source = context?.source ?? String(value)
    if (!isText(source, value)) return value
    return keepsAbsurd || !isLongerThan(source, MAX_READ) ? new NumberText(source) : source
  }
  return JSON.parse(text, reviver)
}
