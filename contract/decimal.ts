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
