type Value = string | number | boolean | null

export type Groups<Item> = {
  /** Of each item its group, by its place, from 1. */
  places: number[]
  /** Of each group its first item. */
  firsts: Item[]
  /** There is one group. */
  alike: boolean
}

/** Groups items that have the same values. Mostly they are those of the item before. */
export function groupBy<Item>(
  items: readonly Item[],
  values: readonly ((item: Item) => Value)[],
): Groups<Item> {
  const places: number[] = []
  const firsts: Item[] = []
  const known = new Map<string, number>()
  let latest: Item | undefined
  let place = 0
  const isLikeLatest = (item: Item) => {
    if (latest === undefined) return false
    for (const value of values) if (value(item) !== value(latest)) return false
    return true
  }
  for (const item of items) {
    if (!isLikeLatest(item)) {
      const key = values.map((value) => String(value(item))).join(' ')
      place = known.get(key) ?? firsts.push(item)
      known.set(key, place)
      latest = item
    }
    places.push(place)
  }
  return { places, firsts, alike: firsts.length === 1 }
}

/** An array of PostgreSQL, of values in which nothing needs quotes: ids, numbers, words. */
export const arrayOf = (items: readonly Value[]): string =>
  `{${(items.includes(null) ? items.map((item) => item ?? 'NULL') : items).join(',')}}`
