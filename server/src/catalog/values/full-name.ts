export type NameParts = { prefix: string; first: string; middle: string; last: string; suffix: string }

const toWordSet = (list: string) => new Set(list.split(' '))
const PREFIXES = toWordSet(
  'mr mrs ms mx miss dr prof professor sir dame rev reverend fr hon herr frau mme mlle m/s capt col gen lt maj sgt ing ' +
    'dipl-ing mag sr sra srta dott dra',
)
const SUFFIXES = toWordSet('jr sr ii iii iv phd md mba esq dds dvm cpa cfa jd dphil msc bsc pmp')
const PARTICLES = toWordSet(
  'van von vom de der den des del della delle di da do dos das du la le los las el al bin ibn bint ter ten te zu zum zur ' +
    'af av st san',
)

/**
 * The length of the part of a text that is read. No name is longer, and the search for brackets that are never closed
 * takes the square of the length.
 */
const MAX_LENGTH = 1000

/** Splits a person's name, written in Western order or as `Last, First`. Missing parts are empty. */
export function splitFullName(text: string): NameParts {
  // Most names have neither brackets nor commas.
  if (!/["“(,]/.test(text)) return splitStraight(wordsOf(text.slice(0, MAX_LENGTH)))
  const parts = text
    .slice(0, MAX_LENGTH)
    .replace(/"[^"]*"|“[^”]*”|\([^)]*\)/g, ' ')
    .split(',')
    .map(wordsOf)
    .filter((part) => part.length > 0)
  const titles: string[] = []
  while (parts.length > 1 && parts.at(-1)?.every((word) => isIn(SUFFIXES, word))) {
    titles.unshift(...(parts.pop() ?? []))
  }
  const [family = [], ...given] = parts
  const split = given.length > 0 ? splitReversed(family, given.flat()) : splitStraight(family)
  return { ...split, suffix: join([split.suffix, ...titles]) }
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** Splits `Smith Jr., Dr. John Paul`. */
function splitReversed(family: string[], given: string[]): NameParts {
  const front = takePrefixes(given)
  const back = takeSuffixes(front.rest)
  const name = takeSuffixes(family)
  const [first = '', ...middle] = back.rest
  return {
    prefix: join(front.taken),
    first,
    middle: join(middle),
    last: join(name.rest),
    suffix: join([...name.taken, ...back.taken]),
  }
}

/** Splits `Dr. Ludwig Otto van Beethoven Jr.` */
function splitStraight(all: string[]): NameParts {
  const { taken: prefixes, rest } = takePrefixes(all)
  const { taken: suffixes, rest: name } = takeSuffixes(rest)
  const outer = { prefix: join(prefixes), suffix: join(suffixes) }
  // A title goes with a family name: `Dr. Smith`.
  if (name.length === 1 && prefixes.length > 0) return { ...outer, first: '', middle: '', last: join(name) }
  const start = startOfLast(name)
  const middle = join(name.slice(1, start))
  return { ...outer, first: name[0] ?? '', middle, last: join(name.slice(start)) }
}

/**
 * Returns the index at which the family name begins. It is the last word, with the particles before it (`van der`), or
 * both halves of `Ortega y Gasset`.
 */
function startOfLast(name: string[]): number {
  let start = Math.max(1, name.length - 1)
  if (start > 2 && name[start - 1]?.toLowerCase() === 'y') start -= 2
  while (start > 1 && isIn(PARTICLES, name[start - 1] ?? '')) start -= 1
  return start
}

const NONE: readonly string[] = []
type Taken = { taken: readonly string[]; rest: string[] }

function takePrefixes(all: string[]): Taken {
  let n = 0
  while (n < all.length - 1 && isIn(PREFIXES, all[n] ?? '')) n += 1
  if (n === 0) return { taken: NONE, rest: all }
  return { taken: all.slice(0, n), rest: all.slice(n) }
}

function takeSuffixes(all: string[]): Taken {
  let n = all.length
  while (n > 1 && isIn(SUFFIXES, all[n - 1] ?? '')) n -= 1
  if (n === all.length) return { taken: NONE, rest: all }
  return { taken: all.slice(n), rest: all.slice(0, n) }
}

function isIn(known: ReadonlySet<string>, word: string): boolean {
  const lower = word.toLowerCase()
  return known.has(lower.includes('.') ? lower.replaceAll('.', '') : lower)
}

function join(list: readonly string[]): string {
  if (list.length < 2) return list[0] ?? ''
  return list.filter((word) => word !== '').join(' ')
}
