import { listPlaces } from '../search.ts'

/** The positions of secrets in a text: pairs of start and end in order, without overlaps. */
export type Places = [start: number, end: number][]
/** Returns the positions of the secrets that begin before `until`. */
export type FindSecrets = (text: string, until?: number) => Places

/** The number of secrets up to which each is searched on its own. More secrets are searched together. */
const FEW = 8
/**
 * The minimum length of a secret. These first characters are the key that tells whether any secret can begin
 * at a position.
 */
const KEY = 4
/** The number of comparisons per character of a text above which texts and secrets count as too similar. */
const MAX_COMPARED = 4
/**
 * The length from which the beginning of a secret is redacted without the rest, once texts and secrets count
 * as too similar.
 */
const TELLING = 16

/**
 * Returns a search for secrets of at least four characters. Its time is linear in the text, however similar
 * text and secrets are.
 */
export function createSecretSearch(secrets: readonly string[]): FindSecrets {
  if (secrets.length <= FEW) return (text, until = text.length) => findEach(text, secrets, until)
  let table: Map<number, string[]> | undefined
  return (text, until = text.length) => findTogether(text, (table ??= groupByKey(secrets)), until)
}

function findEach(text: string, secrets: readonly string[], until: number): Places {
  const places: Places = []
  for (const secret of secrets) {
    for (const at of listPlaces(text, secret)) {
      if (at >= until) break
      addPlace(places, at, at + secret.length)
    }
  }
  return secrets.length === 1 ? places : merge(places)
}

/** Appends a range, or extends the last range if they overlap. */
function addPlace(places: Places, start: number, end: number): void {
  const last = places.at(-1)
  if (last !== undefined && start >= last[0] && start < last[1]) last[1] = Math.max(last[1], end)
  else places.push([start, end])
}

function merge(places: Places): Places {
  const merged: Places = []
  for (const [start, end] of places.sort((one, other) => one[0] - other[0])) addPlace(merged, start, end)
  return merged
}

/** Groups secrets by their first characters. Each group is sorted. */
function groupByKey(secrets: readonly string[]): Map<number, string[]> {
  const groups = new Map<number, string[]>()
  for (const secret of secrets) {
    const key = keyAt(secret, 0)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [secret])
    else group.push(secret)
  }
  for (const group of groups.values()) group.sort((a, b) => (a < b ? -1 : 1))
  return groups
}

/** Returns a hash of the characters at this position. Most different beginnings have different hashes. */
function keyAt(text: string, at: number): number {
  let key = 0
  for (let n = 0; n < KEY; n += 1) key = (Math.imul(key, 0x9e3779b1) + text.charCodeAt(at + n)) | 0
  return key
}

/**
 * Searches at each position of the text for the longest secret that starts there. A text that almost matches
 * a secret at every position would take quadratic time. So once too much has been compared, any long
 * beginning of a secret is redacted.
 */
function findTogether(text: string, groups: ReadonlyMap<number, string[]>, until: number): Places {
  const places: Places = []
  const end = Math.min(until, text.length - KEY + 1)
  let compared = 0
  for (let at = 0; at < end; at += 1) {
    const group = groups.get(keyAt(text, at))
    if (group === undefined) continue
    const { agreed, whole } = compareWith(group, text, at)
    compared += agreed
    const isTelling = agreed >= TELLING && compared > MAX_COMPARED * text.length
    const length = isTelling ? agreed : whole
    if (length === 0) continue
    addPlace(places, at, at + length)
    if (isTelling) at += length - 1
  }
  return places
}

/**
 * Returns how many characters of the text agree with one of the secrets, and the length of the longest secret
 * that matches as a whole.
 */
function compareWith(group: readonly string[], text: string, at: number): { agreed: number; whole: number } {
  let [low, high] = [0, group.length]
  let [agreed, whole] = [0, 0]
  for (;;) {
    agreed = readAlike(text, at, agreed, [group[low], group[high - 1]])
    // The group is sorted and identical up to here, so a secret that has ended is the first.
    if (group[low]?.length === agreed) {
      whole = agreed
      low += 1
    }
    const sign = text.charCodeAt(at + agreed)
    if (Number.isNaN(sign)) break
    low = firstFrom(group, { low, high }, agreed, sign)
    high = firstFrom(group, { low, high }, agreed, sign + 1)
    if (low >= high) break
  }
  return { agreed, whole }
}

/**
 * Returns the position up to which the text agrees with both secrets. Every secret between them in the sort
 * order then agrees as well.
 */
function readAlike(
  text: string,
  at: number,
  from: number,
  [one = '', other = '']: (string | undefined)[],
): number {
  let place = from
  for (; place < one.length; place += 1) {
    const sign = text.charCodeAt(at + place)
    if (sign !== one.charCodeAt(place) || sign !== other.charCodeAt(place)) break
  }
  return place
}

/** Returns the first index from `low` whose character at this place is not smaller than `sign`. */
function firstFrom(
  group: readonly string[],
  { low, high }: { low: number; high: number },
  place: number,
  sign: number,
): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((group[middle]?.charCodeAt(place) ?? 0) < sign) from = middle + 1
    else to = middle
  }
  return from
}
