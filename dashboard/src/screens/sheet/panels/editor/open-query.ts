import { cutFormula } from './formula-check.ts'

/** The words typed for a column or a function: their place in the text, and what opened the list. */
export type Query = { from: number; to: number; typed: string; kind: 'braces' | 'slash' | 'word' }

const LONGEST = 60

/**
 * Returns what is typed before the caret after `{{`, after a slash that begins a word, or, in a formula, as a word. A slash
 * within a word is part of an address.
 */
export function findQuery(text: string, caret: number, isFormula: boolean): Query | null {
  const start = Math.max(0, caret - LONGEST)
  const before = text.slice(start, caret)
  const braces = /\{\{([^{}\n]*)$/.exec(before)
  if (braces !== null) {
    return { from: start + braces.index, to: caret, typed: braces[1] ?? '', kind: 'braces' }
  }
  if (isFormula) return findWord(text.slice(0, caret))
  const slash = /(^|[\s}])\/([^/{}\n]*)$/.exec(before)
  if (slash === null || (start > 0 && slash[1] === '')) return null
  const [, lead = '', typed = ''] = slash
  return { from: start + slash.index + lead.length, to: caret, typed, kind: 'slash' }
}

/** Returns the name at the end of a formula, with the dot before it. */
function findWord(text: string): Query | null {
  const pieces = cutFormula(text)
  const last = pieces.at(-1)
  if (last === undefined || last.to !== text.length) return null
  const isDot = (text: string | undefined) => text === '.' || text === '?.'
  if (isDot(last.text))
    return pieces.length < 2 ? null : { from: last.from, to: last.to, typed: '.', kind: 'word' }
  if (last.kind !== 'name') return null
  const before = pieces.at(-2)
  const dot = before !== undefined && isDot(before.text) && before.to === last.from ? '.' : ''
  return { from: last.from - dot.length, to: last.to, typed: `${dot}${last.text}`, kind: 'word' }
}
