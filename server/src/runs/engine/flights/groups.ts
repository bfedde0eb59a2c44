type Value = string | number | boolean | null

export type Groups<Item> = {
  /** The group of each item, by its place, from 1. */
  places: number[]
  /** The first item of each group. */
  firsts: Item[]
}

/**
 * Groups items that have the same values. Mostly an item is of the same group as the one before. If groups take turns,
 * as the actions of rows do, it is of the next group.
 */
export function groupBy<Item>(
  items: readonly Item[],
  values: readonly ((item: Item) => Value)[],
): Groups<Item> {
  const firsts: Item[] = []
  const known = new Map<string, number>()
  const isOf = (item: Item, group: number) => {
    const first = firsts[group - 1]
    return first !== undefined && values.every((value) => value(item) === value(first))
  }
  let place = 0
  const places = items.map((item) => {
    if (isOf(item, place)) return place
    const next = (place % firsts.length) + 1
    if (isOf(item, next)) return (place = next)
    const key = values.map((value) => String(value(item))).join(' ')
    place = known.get(key) ?? firsts.push(item)
    known.set(key, place)
    return place
  })
  return { places, firsts }
}

/** Returns a PostgreSQL array of values that need no quotes: ids, numbers, words. */
export const arrayOf = (items: readonly Value[]): string =>
  `{${(items.includes(null) ? items.map((item) => item ?? 'NULL') : items).join(',')}}`
