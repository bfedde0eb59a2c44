/**
 * Matches a string or a number of JSON. Strings come first, so that digits in them are not read as numbers.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The length up to which a number without exponent is always exact. */
const ALWAYS_EXACT = 15

/**
 * Parses JSON. With `lossless`, a number that JavaScript cannot hold exactly, such as 9007199254740993, becomes text
 * with every digit that was sent.
 */
export function parseJson(text: string, lossless: boolean): unknown {
  if (!lossless) return JSON.parse(text)
  const exact = text.replace(TOKEN, (token) =>
    token.startsWith('"') || isExact(token) ? token : `"${token}"`,
  )
  return JSON.parse(exact)
}

function isExact(token: string): boolean {
  if (token.length <= ALWAYS_EXACT && !/e/i.test(token)) return true
  return toDecimal(token) === toDecimal(String(Number(token)))
}

/** Returns a number as its significant digits and exponent, so that equal numbers have equal texts. */
function toDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** Writes JSON. A bigint is written as a number with all its digits. */
export function writeJson(value: unknown): string {
  const mark = `bigint-${Math.random()}-`
  let hasBigInt = false
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'bigint') return part
    hasBigInt = true
    return `${mark}${part}`
  })
  return hasBigInt ? text.replaceAll(new RegExp(`"${mark.replace('.', '\\.')}(-?\\d+)"`, 'g'), '$1') : text
}
