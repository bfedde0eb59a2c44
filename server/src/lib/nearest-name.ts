/**
 * Returns the name that was most likely meant, if one is near enough. Allows one slip for every three
 * characters and at least one slip, but none for a single character.
 */
export function findNearest(given: string, names: Iterable<string>): string | undefined {
  const word = given.slice(0, MAX_COMPARED).toLowerCase()
  let nearest: { name: string; slips: number } | undefined
  for (const name of names) {
    const slips = countSlips(word, name.slice(0, MAX_COMPARED).toLowerCase())
    if (
      slips < word.length &&
      slips <= Math.max(1, Math.floor(word.length / 3)) &&
      slips < (nearest?.slips ?? Infinity)
    ) {
      nearest = { name, slips }
    }
  }
  return nearest?.name
}

/** Returns `; did you mean X?`, or an empty text. */
export function didYouMean(given: string, names: Iterable<string>): string {
  return inWords(findNearest(given, names))
}

const inWords = (meant: string | undefined) => (meant === undefined ? '' : `; did you mean ${meant}?`)

const MAX_COMPARED = 60
const MAX_HINTS = 20
const MAX_NAMES = 300

/**
 * Creates a `didYouMean` for a caller that may send many names. It compares each name once, and only as many
 * names as a person would read.
 */
export function createHints(names: Iterable<string>): (given: string) => string {
  const known = [...names].slice(0, MAX_NAMES)
  return createHintsBy((given) => findNearest(given, known))
}

/**
 * Creates hints with a function that finds the intended name, for names that are not found by spelling alone.
 */
export function createHintsBy(find: (given: string) => string | undefined): (given: string) => string {
  const hints = new Map<string, string>()
  return (given) => {
    const hint = hints.get(given) ?? (hints.size < MAX_HINTS ? inWords(find(given)) : '')
    if (hints.size < MAX_HINTS) hints.set(given, hint)
    return hint
  }
}

/**
 * Counts the characters to insert, delete, replace or swap with a neighbour to get from one word to the
 * other.
 */
function countSlips(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, n) => n)
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    beforeLast = last
    last = row
  }
  return last[to.length] ?? 0
}
