/** The maximum length of a decimal that is compared as a number. */
export const MAX_DECIMAL = 10_000

/**
 * The one grammar of decimals, in filters, conditions and number fields. PostgreSQL reads its source too. It has no sign `+`, so that the
 * telephone number +1555 stays text, and no hexadecimal, spaces or separators.
 */
export const DECIMAL = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/

/** Returns true if the text is a decimal that is short enough to be compared as a number. */
export function isDecimal(text: string): boolean {
  return text.length <= MAX_DECIMAL && DECIMAL.test(text)
}

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

/** Compares exactly, because rows keep numbers as text (D28): 9007199254740993 is not 9007199254740992. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.magnitude !== b.magnitude) return a.sign * (a.magnitude - b.magnitude)
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -a.sign : a.sign
}
