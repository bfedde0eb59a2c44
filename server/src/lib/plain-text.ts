/** Returns the text without the signs at its end that are this one, such as slashes. `/x+$/` would take quadratic time. */
export function trimEnd(text: string, sign: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === sign) end -= 1
  return text.slice(0, end)
}

/** The longest run of combining marks in the stream-safe format of Unicode (UAX 15). No language has longer ones. */
const LONG_RUN = /(\p{M}{30})\p{M}+/gu

/**
 * Returns the text in a normal form, with at most 30 combining marks in a row. Sorting a longer run takes quadratic
 * time: 4 s for 40,000 marks.
 */
export function normalizeText(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  return text.replace(LONG_RUN, '$1').normalize(form)
}

/** Compares texts by their code units, for `sort`. A comparison by the rules of a language can take quadratic time. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
