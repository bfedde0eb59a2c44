import { LRUCache } from 'lru-cache'
import { parseTemplate, type Template, textOf } from '../chain/references.ts'
import { type Bound, bindTokens } from './binding.ts'
import { parsePath, type Step, walkPath } from './path.ts'
import type { Evaluation, Sandbox } from './sandbox.ts'

/** An expression with the values of one row: a plain read of one of them, or code for the sandbox. */
export type Formula =
  | { kind: 'path'; value: unknown; steps: Step[] }
  | { kind: 'code'; code: string; values: unknown[] }

type Scope = { text(template: string): string; value(template: string): unknown }

/** An expression as it was written, with the values of a row bound to its tokens. */
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

/** Rows share their formulas, which are long to read. */
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

/** The text that an expression comes to. Plain reads cost no sandbox. */
export function evaluateFormula(formula: Formula, sandbox: Sandbox): Promise<Evaluation> | Evaluation {
  if (formula.kind === 'code') return sandbox.evaluate(formula.code, formula.values)
  const walked = walkPath(formula.value, formula.steps)
  return walked.ok ? { ok: true, text: textOf(walked.value) } : walked
}

/** `{{x_1.person?.city}}`, with the chain inside the braces, is `{{x_1.person}}?.city`. Inputs may be named like that. */
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
