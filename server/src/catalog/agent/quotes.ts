import { normalizeText } from '../../lib/plain-text.ts'
import { hasText, listPlaces } from '../../lib/search.ts'

const MIN_QUOTE = 4

/**
 * Returns true if a text contains the words of a quote. Case, spaces, typographic characters and Markdown marks make no
 * difference.
 */
export function isQuoted(quote: string, text: string): boolean {
  return occursIn(plain(quote), plain(text))
}

/**
 * Does the same for a quote and a text that are already plain, so that a text that is searched often is converted once.
 */
export function occursIn(quote: string, text: string): boolean {
  if (quote.length < MIN_QUOTE) return false
  for (const at of listPlaces(text, quote)) {
    if (isEdge(text, at - 1, quote, 0) && isEdge(text, at + quote.length, quote, quote.length - 1))
      return true
  }
  return false
}

/**
 * Returns true if the quote begins or ends at a whole word or number: "art" is not quoted from "party", nor "250" from
 * "1,250".
 */
function isEdge(text: string, outside: number, quote: string, inside: number): boolean {
  const [beyond = '', edge = ''] = [text[outside], quote[inside]]
  if (isWord(beyond)) return !isWord(edge)
  const further = text[inside === 0 ? outside - 1 : outside + 1] ?? ''
  return !(/[.,]/.test(beyond) && /\d/.test(edge) && /\d/.test(further))
}

const isWord = (sign: string): boolean => /[\p{L}\p{N}]/u.test(sign)

/**
 * Converts a text to the form in which quotes are compared: one line, lower case, plain characters, without Markdown
 * marks.
 */
export function plain(text: string): string {
  return (
    normalizeText(text, 'NFKC')
      // The match ends at the next bracket: otherwise each bracket that is never closed would be followed to the end of
      // the text.
      .replace(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, '$1')
      .replace(/[\u2018\u2019\u201a\u201b\u2032]/g, "'")
      .replace(/[\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033]/g, '"')
      .replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(/[\p{Cf}\u00ad]/gu, '')
      .replace(/\\(?=[^\w\s])/g, '')
      .replace(/[*_`~]+/g, '')
      .replace(/[#>|]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .toLowerCase()
  )
}

/**
 * Returns true if a quote contains the value itself, not only words about it. A list is contained if each of its items
 * is.
 */
export function holdsValue(quote: string, value: unknown): boolean {
  const words = plain(quote)
  if (typeof value === 'string') return value.trim() !== '' && hasText(words, plain(value))
  if (typeof value === 'number') return numbersIn(words).some((number) => number === value)
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => holdsValue(quote, item))
  return false
}

const SCALES: Record<string, number> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, bn: 1e9, billion: 1e9 }

/**
 * Returns the numbers of a text, in English and continental notation: `1,250`, `1.250`, `1 250`, `2.5 million`, `12k`.
 */
function numbersIn(text: string): number[] {
  const found = text.matchAll(
    // A number begins where its digits begin: trying each digit would take quadratic time.
    /(?<!\d)(\d{1,3}(?:[ ,.']\d{3})+|\d+)([.,]\d+)?\s?(k|m|bn|thousand|million|billion)?\b/g,
  )
  return [...found].flatMap(([, whole = '', part = '', scale = '']) => {
    const digits = Number(whole.replace(/[ ,.']/g, '') + part.replace(',', '.'))
    const plainDigits = Number(whole.replace(/[ ,']/g, '') + part.replace(',', '.'))
    const factor = SCALES[scale] ?? 1
    return [digits * factor, plainDigits * factor]
  })
}
