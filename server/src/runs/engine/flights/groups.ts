import { isOn } from '../../../lib/fast-parts.ts'

type Value = string | number | boolean | null

export type Groups<Item> = {
  /** The group of each item, by its place, from 1. */
  places: number[]
  /** The first item of each group. */
  firsts: Item[]
  /** Set if there is one group only. */
  alike: boolean
}

/**
 * Groups items that have the same values. Mostly an item is of the same group as the one before. If groups take turns,
 * as the actions of rows do, it is of the next group.
 */
export function groupBy<Item>(
  items: readonly Item[],
  values: readonly ((item: Item) => Value)[],
): Groups<Item> {
  const places: number[] = []
  const firsts: Item[] = []
  const known = new Map<string, number>()
  let place = 0
  const isOf = (item: Item, group: number) => {
    const first = firsts[group - 1]
    if (first === undefined) return false
    for (const value of values) if (value(item) !== value(first)) return false
    return true
  }
  const look = (item: Item) => {
    const key = values.map((value) => String(value(item))).join(' ')
    const found = known.get(key) ?? firsts.push(item)
    known.set(key, found)
    return found
  }
  for (const item of items) {
    if (!isOf(item, place)) {
      const next = (place % firsts.length) + 1
      place = isOf(item, next) ? next : look(item)
    }
    places.push(place)
  }
  return { places, firsts, alike: firsts.length === 1 && isOn('one-run-forms') }
}

/** Returns a PostgreSQL array of values that need no quotes: ids, numbers, words. */
export const arrayOf = (items: readonly Value[]): string =>
  `{${(items.includes(null) ? items.map((item) => item ?? 'NULL') : items).join(',')}}`
