import { LRUCache } from 'lru-cache'
import { parseTemplate, type Template, textOf } from '../chain/references.ts'
import { type Bound, bindTokens } from './binding.ts'
import { parsePath, type Step, walkPath } from './path.ts'
import type { Evaluation, Sandbox } from './sandbox.ts'

/** An expression with the values of one row: either a plain read of one value, or code for the sandbox. */
export type Formula =
  | { kind: 'path'; value: unknown; steps: Step[] }
  | { kind: 'code'; code: string; values: unknown[] }

type Scope = { text(template: string): string; value(template: string): unknown }

/** Binds the values of a row to the tokens of an expression, which is given as it was written. */
export function bindFormula(text: string, scope: Scope): Formula | { problem: string } {
  const { path, bound } = known.get(text) ?? readFormula(text)
  if (path !== null) return { kind: 'path', value: scope.value(path.source), steps: path.steps }
  if (!bound.ok) return { problem: bound.message }
  const values = bound.bindings.map(({ source, as }) =>
    as === 'text' ? scope.text(source) : scope.value(source),
  )
  return { kind: 'code', code: bound.code, values }
}

type ReadFormula = { path: { source: string; steps: Step[] } | null; bound: Bound }

/** A cache: rows share their formulas, and parsing a formula takes long. */
const known = new LRUCache<string, ReadFormula>({
  max: 1000,
  maxSize: 4_000_000,
  sizeCalculation: (_, text) => text.length + 1,
})

function readFormula(text: string): ReadFormula {
  const template = parseTemplate(moveChains(text))
  const read = { path: pathOf(template), bound: bindTokens(template) }
  known.set(text, read)
  return read
}

/** Evaluates an expression and returns its result as text. A plain read needs no sandbox. */
export function evaluateFormula(formula: Formula, sandbox: Sandbox): Promise<Evaluation> | Evaluation {
  if (formula.kind === 'code') return sandbox.evaluate(formula.code, formula.values)
  const walked = walkPath(formula.value, formula.steps)
  return walked.ok ? { ok: true, text: textOf(walked.value) } : walked
}

/**
 * Moves an optional chain out of the braces: `{{x_1.person?.city}}` becomes `{{x_1.person}}?.city`. Inputs are left
 * alone, because an input's name may look like that.
 */
export function moveChains(text: string): string {
  return text.replace(/\{\{\s*(?!input\.)([a-z0-9_]+\.[^{}.?]+)\?\.([^{}]*)\}\}/g, '{{$1}}?.$2')
}

function pathOf(template: Template): { source: string; steps: Step[] } | null {
  const [part, rest, more] = template.filter(({ kind, ...part }) => kind === 'token' || textIn(part) !== '')
  if (part?.kind !== 'token' || more !== undefined || rest?.kind === 'token') return null
  const steps = parsePath(rest?.text ?? '')
  return steps && { source: part.source, steps }
}

function textIn(part: object): string {
  return 'text' in part && typeof part.text === 'string' ? part.text.trim() : ''
}
