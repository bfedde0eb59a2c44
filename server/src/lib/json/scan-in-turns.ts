import { pause } from '../timing/turns.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  isEscaped,
  type JsonExtent,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-scan.ts'

/** The size up to which a text is parsed at once. A larger container is parsed piece by piece. */
export const PIECE = 128 * 1024
/** The number of characters that are scanned between two looks at the clock. */
const STEP = 16 * 1024

export type JsonScan = JsonExtent & {
  /** Tells that every bracket has a counterpart. Otherwise the text is not JSON. */
  isBalanced: boolean
  /** The ends of strings and containers larger than a piece, by their start positions. */
  ends: Map<number, number>
}

/**
 * Scans a large JSON text once, in turns with other work. Stops where the text is nested deeper than
 * `maxDepth`.
 */
export async function scanInTurns(text: string, maxDepth = Number.POSITIVE_INFINITY): Promise<JsonScan> {
  const ends = new Map<number, number>()
  const open: number[] = []
  let isBalanced = true
  let deepest = 0
  let values = 1
  let next = STEP
  /** The start of the string being scanned, or -1 outside of strings. */
  let quote = -1
  for (let at = 0; at < text.length && deepest <= maxDepth; at++) {
    if (at >= next) {
      await pause()
      next = at + STEP
    }
    if (quote !== -1) {
      at = text.indexOf('"', at)
      if (at === -1) break
      if (isEscaped(text, at, quote)) continue
      if (at + 1 - quote > PIECE) ends.set(quote, at + 1)
      quote = -1
      continue
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) quote = at
    else if (code === COMMA) values += 1
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1
      open.push(at)
      deepest = Math.max(deepest, open.length)
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      const start = open.pop()
      // The codes of a pair of brackets differ by two.
      if (start === undefined || text.charCodeAt(start) !== code - 2) isBalanced = false
      else if (at + 1 - start > PIECE) ends.set(start, at + 1)
    }
  }
  return { deepest, values, ends, isBalanced: isBalanced && open.length === 0 && quote === -1 }
}
