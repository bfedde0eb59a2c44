import { NumberText } from '#contract/number-text.ts'

export { NumberText } from '#contract/number-text.ts'

/**
 * The longest number that is accepted as a number. A stored number prints up to twice as long as it was
 * written, and PostgreSQL refuses more than 16,383 digits after the decimal point.
 */
const MAX_READ = 5_000

/**
 * Returns true if a number has more digits or a larger exponent than `most`: for PostgreSQL 1e200000 is as
 * long as if it were written out.
 */
export function isLongerThan(source: string, most: number): boolean {
  return source.length > most || Math.abs(Number(/[eE](.+)$/.exec(source)?.[1] ?? 0)) > most
}

/** Matches text that may be a number outside of strings. A match inside a string only costs time. */
const MAY_HOLD_NUMBER = /(?:^|[[:,])\s*-?\d/
/** Matches numbers that a double may not reproduce: 16 digits or more, or an exponent. */
const MAY_LOSE = /(?:\d\.?){16}|\d[eE]/
/**
 * Matches numbers that a double may print differently than they were written: the above, and -0, 1.50 and
 * 0.0000001. Matches only where a value begins, because ids and prices inside texts are common.
 */
const MAY_DIFFER = /(?:^|[[,:])\s*(?:-0(?![.\d])|-?(?:(?:\d\.?){16}|[\d.]+[eE]|\d+\.\d*0(?!\d)|0\.0{6}))/

/**
 * Parses JSON and keeps every number as its source text, since 12345678901234567890 does not survive as a
 * double.
 */
export function parseWithNumberTexts(text: string): unknown {
  return MAY_HOLD_NUMBER.test(text) ? revive(text, () => true, true) : JSON.parse(text)
}

/** Parses JSON with plain numbers, except where a plain number would not print back as it was written. */
export function parseLossless(text: string): unknown {
  return MAY_LOSE.test(text) ? revive(text, (source, value) => source !== String(value)) : JSON.parse(text)
}

/** Returns a copy with plain numbers, except in fields with the given names at any depth. */
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

/**
 * Parses JSON with plain numbers, except where one would print differently than it was written, such as 1.50
 * (D28).
 */
export function parseExact(text: string): unknown {
  return MAY_DIFFER.test(text) ? revive(text, (source, value) => source !== String(value)) : JSON.parse(text)
}

type SourceContext = { source?: string }

/**
 * Parses JSON and replaces numbers by their source text where `isText` says so. A number that is absurdly
 * long becomes a plain text, unless `keepsAbsurd` is set: callers that set it report such numbers themselves.
 */
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
