import { ownValue } from '../../../lib/json/object.ts'
import { fieldName, type ItemList } from './item-list.ts'
import type { Wanted } from './items.ts'

/** Returns the list that is meant: by the words of `item`, then by matching fields, then by rank and length. */
export function chooseList(
  lists: readonly ItemList[],
  { item, fields }: Pick<Wanted, 'item' | 'fields'>,
): ItemList | null {
  const scored = lists
    .map((list) => ({ list, score: scoreOf(list, item, fields) }))
    .filter(({ score }) => fields === undefined || score.fields > 0)
  scored.sort(
    (a, b) =>
      b.score.words - a.score.words ||
      b.score.fields - a.score.fields ||
      a.list.rank - b.list.rank ||
      b.list.items.length - a.list.items.length,
  )
  return scored[0]?.list ?? null
}

function scoreOf(list: ItemList, item: string | undefined, fields: Wanted['fields']) {
  const about = wordsOf(list.about)
  const [first = {}] = list.items
  const found = (fields ?? []).filter((field) => sourceOf(Object.keys(first), field) !== null)
  return {
    words: item === undefined ? 0 : wordsOf(item).filter((word) => about.includes(word)).length,
    fields: found.length,
  }
}

/** Returns an item with the requested fields, null for those missing on the page. */
export function pickFields(
  item: Readonly<Record<string, string>>,
  fields: Wanted['fields'],
): Record<string, string | null> {
  if (fields === undefined) return { ...item }
  const names = Object.keys(item)
  return Object.fromEntries(
    fields.map((field) => {
      const source = sourceOf(names, field)
      return [field.name, source === null ? null : (ownValue(item, source) ?? null)]
    }),
  )
}

type Field = NonNullable<Wanted['fields']>[number]

/** Returns the page's name for a field: the same name, one that shares a word, or one that the description mentions. */
function sourceOf(names: readonly string[], { name, description = '' }: Field): string | null {
  if (names.includes(name)) return name
  const described = fieldName(description)
  if (described !== '' && names.includes(described)) return described
  const words = wordsOf(name)
  const shared = names.find((other) => wordsOf(other).some((word) => words.includes(word)))
  if (shared !== undefined) return shared
  const mentioned = wordsOf(description)
  return (
    names.find((other) => wordsOf(other).every((word) => mentioned.includes(word))) ??
    ownValue(SAME, name)?.find((other) => names.includes(other)) ??
    null
  )
}

const SAME: Readonly<Record<string, readonly string[]>> = {
  title: ['name', 'headline'],
  name: ['title', 'headline'],
  link: ['url'],
  website: ['url'],
  picture: ['image'],
  date: ['date_published', 'date_posted', 'start_date'],
}

/** Splits a text into normalised words: `team-members` and `Team member` have the same two. */
function wordsOf(text: string): string[] {
  return fieldName(text)
    .split('_')
    .filter((word) => word.length > 1)
    .map((word) => word.replace(/(?<=\w{3})s$/, ''))
}
