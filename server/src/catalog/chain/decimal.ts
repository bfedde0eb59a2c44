import { DECIMAL } from '#contract/decimal.ts'

/** A decimal of any length: sign times 0.digits times ten to the magnitude. */
export type Decimal = { sign: -1 | 0 | 1; magnitude: number; digits: string }

const PARTS = /^(-)?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/** Returns the decimal that the text writes (`DECIMAL`), or null if it writes none. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.test(text) ? PARTS.exec(text) : null
  if (!match) return null
  const [, minus, whole = '', fraction = '', exponent = '0'] = match
  const all = whole + fraction
  const first = all.search(/[1-9]/)
  if (first < 0) return { sign: 0, magnitude: 0, digits: '' }
  let end = all.length
  while (all[end - 1] === '0') end -= 1
  return {
    sign: minus ? -1 : 1,
    magnitude: whole.length - first + Number(exponent),
    digits: all.slice(first, end),
  }
}

/** Compares two decimals exactly, since rows store numbers as text (D28): 9007199254740993 is not 9007199254740992. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.magnitude !== b.magnitude) return a.sign * (a.magnitude - b.magnitude)
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -a.sign : a.sign
}
