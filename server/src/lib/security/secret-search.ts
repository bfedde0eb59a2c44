import { listPlaces } from '../search.ts'

/** The places of secrets in a text, as pairs of start and end in order; none overlaps another. */
export type Places = [start: number, end: number][]
export type FindSecrets = (text: string) => Places

/** Each is looked for on its own; more are looked for together. */
const FEW = 8
/** Characters that every secret has at least: what they begin with says whether any begins here. */
const KEY = 4
/** Characters compared for each one of a text before texts and secrets count as too alike. */
const MAX_COMPARED = 4
/** Characters of a secret that are cut without the rest of it, once texts and secrets count as too alike. */
const TELLING = 16

/** Returns a search for secrets of at least four characters. It takes time that grows with the text, however alike they are. */
export function createSecretSearch(secrets: readonly string[]): FindSecrets {
  if (secrets.length <= FEW) return (text) => findEach(text, secrets)
  let table: Map<number, string[]> | undefined
  return (text) => findTogether(text, (table ??= groupByKey(secrets)))
}

function findEach(text: string, secrets: readonly string[]): Places {
  const places: Places = []
  for (const secret of secrets) {
    for (const at of listPlaces(text, secret)) addPlace(places, at, at + secret.length)
  }
  return secrets.length === 1 ? places : merge(places)
}

/** Appends a place, or makes the last one longer that it overlaps. */
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

/** Secrets by how they begin, each group in the order of their characters. */
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

/** Differs for most beginnings that differ. */
function keyAt(text: string, at: number): number {
  let key = 0
  for (let n = 0; n < KEY; n += 1) key = (Math.imul(key, 0x9e3779b1) + text.charCodeAt(at + n)) | 0
  return key
}

/**
 * Looks at each place of the text for the longest secret that stands there. Texts that nearly are a secret at every place would take
 * time by the square of their length: once so much has been compared, whatever agrees with the beginning of one is cut.
 */
function findTogether(text: string, groups: ReadonlyMap<number, string[]>): Places {
  const places: Places = []
  let compared = 0
  for (let at = 0; at + KEY <= text.length; at += 1) {
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

/** How far the text agrees with one of them, and the length of the longest that stands there whole. */
function compareWith(group: readonly string[], text: string, at: number): { agreed: number; whole: number } {
  let [low, high] = [0, group.length]
  let [agreed, whole] = [0, 0]
  for (;;) {
    agreed = readAlike(text, at, agreed, [group[low], group[high - 1]])
    // Sorted, and the same up to here: one that has ended is the first of them.
    if (group[low]?.length === agreed) {
      whole = agreed
      low += 1
    }
    const sign = text.charCodeAt(at + agreed)
    if (Number.isNaN(sign)) break
    low = firstFrom(group, low, high, agreed, sign)
    high = firstFrom(group, low, high, agreed, sign + 1)
    if (low >= high) break
  }
  return { agreed, whole }
}

/** How far the text goes on as both do: whatever stands between them in the order of characters does as well. */
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

/** The first from `low` whose character there is not smaller than this one. */
function firstFrom(group: readonly string[], low: number, high: number, place: number, sign: number): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((group[middle]?.charCodeAt(place) ?? 0) < sign) from = middle + 1
    else to = middle
  }
  return from
}
