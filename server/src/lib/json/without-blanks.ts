import type { Steps } from '../timing/turns.ts'
import { isBlank, isEscaped, QUOTE } from './json-scan.ts'

/** The number of characters that are read in one step. */
const STEP = 16 * 1024

/** Returns a JSON text without the blanks between its tokens. Every number keeps its digits. */
export function* withoutBlanksInSteps(text: string): Steps<string> {
  const parts: string[] = []
  let from = 0
  let next = STEP
  /** The start of the string that is being read, or -1 outside of strings. */
  let quote = -1
  for (let at = 0; at < text.length; at++) {
    if (at >= next) {
      yield
      next = at + STEP
    }
    if (quote !== -1) {
      at = text.indexOf('"', at)
      if (at === -1) break
      if (!isEscaped(text, at, quote)) quote = -1
      continue
    }
    const code = text.charCodeAt(at)
    if (code === QUOTE) quote = at
    else if (isBlank(code)) {
      if (at > from) parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return from === 0 ? text : [...parts, text.slice(from)].join('')
}
