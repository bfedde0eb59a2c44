import type { WorldPages } from './pages.ts'

export type Hit = { url: string; title: string; content: string }

const MAX_HITS = 10
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/**
 * Creates a search index over the words of pages. Rare words and words of titles count more, as in any search
 * engine.
 */
export function createSearchIndex(
  pages: WorldPages,
  urlOf: (address: string) => string,
): (query: string) => Hit[] {
  const entries = [...pages].flatMap(([address, { title, shown, indexed }]) =>
    indexed
      ? [{ address, title, shown, inTitle: new Set(wordsOf(title)), inText: new Set(wordsOf(shown)) }]
      : [],
  )
  const weightOf = (word: string) => {
    const holding = entries.filter(({ inText }) => inText.has(word)).length
    return holding === 0 ? 0 : Math.log(1 + entries.length / holding)
  }
  return (query) => {
    const weights = [...new Set(wordsOf(query))].map((word) => [word, weightOf(word)] as const)
    const scoreOf = ({ inTitle, inText }: (typeof entries)[number]) =>
      weights.reduce(
        (sum, [word, weight]) => sum + (inText.has(word) ? weight : 0) + (inTitle.has(word) ? weight : 0),
        0,
      )
    return entries
      .map((entry) => ({ entry, score: scoreOf(entry) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || one.entry.address.localeCompare(other.entry.address))
      .slice(0, MAX_HITS)
      .map(({ entry }) => ({
        url: urlOf(entry.address),
        title: entry.title,
        content: entry.shown.replace(/\s+/g, ' ').slice(0, 160),
      }))
  }
}
