/**
 * The longest text that V8 searches for in acceptable time. It compares at most 64 characters at each place,
 * which takes about 10 ms per megabyte at worst. For a longer text the search takes quadratic time on
 * repetitive texts: 20 s for 24 KB in a megabyte.
 */
const SHORT = 64

/**
 * Returns the first position of `needle` at or after `from`, or -1. The time is linear in the lengths of
 * both.
 */
export function findText(text: string, needle: string, from = 0): number {
  if (needle.length <= SHORT) return text.indexOf(needle, from)
  for (const at of listPlaces(text, needle, from)) return at
  return -1
}

export function hasText(text: string, needle: string): boolean {
  return findText(text, needle) >= 0
}

/** Returns the text with each `needle` replaced by other words, which are used literally. */
export function replaceText(text: string, needle: string, words: string): string {
  let [replaced, end] = ['', 0]
  for (const at of listPlaces(text, needle)) {
    if (at < end) continue
    replaced += text.slice(end, at) + words
    end = at + needle.length
  }
  return end === 0 ? text : replaced + text.slice(end)
}

/** Yields every position of a non-empty needle, including overlapping ones (Knuth, Morris and Pratt). */
export function* listPlaces(text: string, needle: string, from = 0): Generator<number> {
  if (needle === '') return
  // Most texts do not even contain the beginning of the needle.
  const first = text.indexOf(needle.slice(0, SHORT), from)
  if (first < 0) return
  const borders = bordersOf(needle)
  let [at, matched] = [first, 0]
  for (;;) {
    ;[at, matched] = matchOn({ text, needle, borders, at, matched })
    if (matched < needle.length) return
    yield at - needle.length
    matched = borders[matched - 1] ?? 0
  }
}

type Match = { text: string; needle: string; borders: Int32Array; at: number; matched: number }

/** Continues until the whole needle is matched or the text ends. */
function matchOn({ text, needle, borders, at, matched }: Match): [at: number, matched: number] {
  const [end, whole] = [text.length, needle.length]
  let [place, length] = [at, matched]
  while (place < end && length < whole) {
    if (text.charCodeAt(place) === needle.charCodeAt(length)) {
      place += 1
      length += 1
    } else if (length === 0) place += 1
    else length = borders[length - 1] as number
  }
  return [place, length]
}

/** Returns for each prefix of the needle the length of its longest proper prefix that is also its suffix. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length)
  let length = 0
  for (let at = 1; at < needle.length; at += 1) {
    const sign = needle.charCodeAt(at)
    while (length > 0 && sign !== needle.charCodeAt(length)) length = borders[length - 1] as number
    if (sign === needle.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return borders
}
