/** The name that was most likely meant, where one is near enough: one slip for every three characters, at least one, but not for a single one. */
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

/** `; did you mean X?`, or nothing. */
export function didYouMean(given: string, names: Iterable<string>): string {
  return inWords(findNearest(given, names))
}

const inWords = (meant: string | undefined) => (meant === undefined ? '' : `; did you mean ${meant}?`)

const MAX_COMPARED = 60
const MAX_HINTS = 20
const MAX_NAMES = 300

/** `didYouMean` for much that a caller sent: each name is compared once, and no more of them than somebody would read. */
export function createHints(names: Iterable<string>): (given: string) => string {
  const known = [...names].slice(0, MAX_NAMES)
  return createHintsBy((given) => findNearest(given, known))
}

/** The same for what is not found by its name alone. */
export function createHintsBy(find: (given: string) => string | undefined): (given: string) => string {
  const hints = new Map<string, string>()
  return (given) => {
    const hint = hints.get(given) ?? (hints.size < MAX_HINTS ? inWords(find(given)) : '')
    if (hints.size < MAX_HINTS) hints.set(given, hint)
    return hint
  }
}

/** Characters to add, leave out, replace or swap with their neighbour to come from one word to the other. */
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
