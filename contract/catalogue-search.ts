import type { CatalogueEntry } from './catalogue.ts'

type Searched = Pick<
  CatalogueEntry,
  'action_id' | 'name' | 'category' | 'description' | 'synonyms' | 'providers'
>

/** The points for a word of the search that is, or begins, a word of that part of an entry. */
const POINTS: readonly { part: (entry: Searched) => readonly string[]; is: number; begins: number }[] = [
  { part: ({ name }) => [name], is: 100, begins: 80 },
  { part: ({ synonyms }) => synonyms, is: 70, begins: 55 },
  { part: ({ providers }) => providers, is: 50, begins: 40 },
  { part: ({ category, action_id }) => [category, action_id], is: 30, begins: 20 },
  { part: ({ description }) => [description], is: 15, begins: 10 },
]
const ID = 1000
const PHRASE_BEGINS_NAME = 60
const PHRASE_IS_SYNONYM = 20

/** Returns the entries that have every word of the search, the best first. Without a search: all, as they are. */
export function searchCatalogue<Entry extends Searched>(entries: readonly Entry[], search: string): Entry[] {
  if (search.trim() === '') return [...entries]
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, search) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || compare(one.entry.name, other.entry.name))
    .map(({ entry }) => entry)
}

function scoreOf(entry: Searched, search: string): number {
  const phrase = search.trim().toLowerCase()
  if (phrase === entry.action_id) return ID
  const scores = wordsOf(phrase).map((word) => scoreWord(entry, word))
  if (scores.length === 0 || scores.includes(0)) return 0
  const asName = entry.name.toLowerCase().startsWith(phrase) ? PHRASE_BEGINS_NAME : 0
  const asSynonym = entry.synonyms.includes(phrase) ? PHRASE_IS_SYNONYM : 0
  return asName + asSynonym + scores.reduce((sum, score) => sum + score, 0)
}

function scoreWord(entry: Searched, word: string): number {
  const scores = POINTS.map(({ part, is, begins }) => {
    const words = part(entry).flatMap(wordsOf)
    if (words.includes(word)) return is
    return words.some((one) => one.startsWith(word)) ? begins : 0
  })
  return Math.max(...scores)
}

/** Returns the words of a text in lower case and in the singular, so that "emails" finds "email". */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  )
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
