import { Script } from 'node:vm'
import { parseTemplate } from '../chain/references.ts'
import { type Binding, bindTokens, variableName } from './binding.ts'
import { moveChains } from './formula.ts'

const FILE = 'formula'
const MAX_EXCERPT = 60
const BRACKETS = ['()', '[]'] as const

/**
 * Returns the syntax error of an expression with its place, or null if it parses. The expression is parsed and never run.
 */
export function faultOfExpression(text: string): string | null {
  if (text.trim() === '') return null
  const bound = bindTokens(parseTemplate(moveChains(text)))
  if (!bound.ok) return bound.message
  const names = bound.bindings.map((_, place) => variableName(place)).join(',')
  try {
    // Parsed in both, an expression such as `1 ) (` cannot close the brackets around it.
    for (const [open, close] of BRACKETS) {
      const code = `(function(${names}){'use strict';return${open}\n${bound.code}\n${close}})`
      void new Script(code, { filename: FILE, lineOffset: -1 })
    }
    return null
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    const place = placeOf(cause.stack ?? '', bound.code.split('\n').length, bound.bindings)
    return place === 'end' ? 'does not parse: it ends too early' : `does not parse${place}: ${cause.message}`
  }
}

/** Reads the place of the error. V8 writes the line, its text and a mark below the place in front of the message. */
function placeOf(stack: string, lines: number, bindings: readonly Binding[]): string {
  const [head = '', line = '', mark = ''] = stack.split('\n')
  const number = head.startsWith(`${FILE}:`) ? Number(head.slice(FILE.length + 1)) : Number.NaN
  const column = mark.indexOf('^')
  if (!Number.isInteger(number) || number < 1 || column < 0) return ''
  if (number > lines) return 'end'
  const rest = line.slice(column).replaceAll(/\s?__v(\d+)\s?/g, (_, n) => bindings[Number(n)]?.source ?? '')
  return ` in line ${number} near "${rest.slice(0, MAX_EXCERPT).trim()}"`
}
