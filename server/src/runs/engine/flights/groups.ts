type Value = string | number | boolean | null

export type Groups<Item> = {
  /** The group of each item, by its place, from 1. */
  places: number[]
  /** The first item of each group. */
  firsts: Item[]
}

/** Groups items that have the same values. */
export function groupBy<Item>(
  items: readonly Item[],
  values: readonly ((item: Item) => Value)[],
): Groups<Item> {
  const firsts: Item[] = []
  const known = new Map<string, number>()
  const places = items.map((item) => {
    const key = values.map((value) => String(value(item))).join(' ')
    const place = known.get(key) ?? firsts.push(item)
    known.set(key, place)
    return place
  })
  return { places, firsts }
}

/** Returns a PostgreSQL array of values that need no quotes: ids, numbers, words. */
export const arrayOf = (items: readonly Value[]): string =>
  `{${(items.includes(null) ? items.map((item) => item ?? 'NULL') : items).join(',')}}`
