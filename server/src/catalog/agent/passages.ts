import { hasText } from '../../lib/search.ts'
import { plain } from './quotes.ts'

/** Returns the parts of a text that match the words of `lookingFor` best, in their order, within maxCharacters. */
export function choosePassages(text: string, lookingFor: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const parts = splitParts(text)
  const weights = weighTerms(lookingFor, parts)
  const ranked = parts
    .map((part, place) => ({ part, place, score: scoreOf(part, weights) + (place === 0 ? 1 : 0) }))
    .sort((one, other) => other.score - one.score || one.place - other.place)
  const kept: typeof ranked = []
  let size = 0
  for (const entry of ranked) {
    if (size + entry.part.length > maxCharacters) continue
    size += entry.part.length + GAP.length
    kept.push(entry)
  }
  if (kept.length === 0) return `${text.slice(0, maxCharacters).toWellFormed()}${GAP}`
  kept.sort((one, other) => one.place - other.place)
  return kept
    .map(({ part, place }, n) =>
      n > 0 && place !== (kept[n - 1]?.place ?? 0) + 1 ? `[...]\n\n${part}` : part,
    )
    .join('\n\n')
}

const GAP = '\n\n[...]'
const MAX_PART = 1200

/**
 * Splits a text into paragraphs. Long paragraphs are cut into pieces, and short ones are joined with their neighbours.
 */
function splitParts(text: string): string[] {
  const parts: string[] = []
  for (const paragraph of text.split(/\n{2,}/)) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + paragraph.length < MAX_PART / 3) {
      parts[parts.length - 1] = `${last}\n\n${paragraph}`
    } else {
      for (let at = 0; at < paragraph.length; at += MAX_PART) parts.push(paragraph.slice(at, at + MAX_PART))
    }
  }
  return parts
}

/** Weighs each term by how rare it is: a term that few parts contain weighs more than one that all contain. */
function weighTerms(lookingFor: string, parts: readonly string[]): Map<string, number> {
  const terms = new Set(plain(lookingFor).match(/[\p{L}\p{N}]{3,}/gu) ?? [])
  const texts = parts.map((part) => plain(part))
  return new Map(
    [...terms].map((term) => {
      const matching = texts.filter((part) => hasText(part, term)).length
      return [term, matching === 0 ? 0 : Math.log(1 + parts.length / matching)]
    }),
  )
}

function scoreOf(part: string, weights: ReadonlyMap<string, number>): number {
  const words = plain(part)
  let score = 0
  for (const [term, weight] of weights) if (hasText(words, term)) score += weight
  return score
}
