import { parseTemplate, type Template, textOf } from '../../chain/references.ts'
import { isObject } from '../../lib/json/object.ts'
import { type Field, FieldProblem, refuse } from '../fields/field.ts'
import { bindTokens } from './binding.ts'
import { parsePath, type Step, walkPath } from './path.ts'
import type { Evaluation, Sandbox } from './sandbox.ts'

/** An expression with the values of one row: a plain read of one of them, or code for the sandbox. */
export type Formula =
  | { kind: 'path'; value: unknown; steps: Step[] }
  | { kind: 'code'; code: string; values: unknown[] }

/** One JavaScript expression over the row. Tokens in it become variables, so that row data is never code. */
export function expression(options: { required?: boolean; description: string }): Field<Formula> {
  return {
    type: 'string',
    required: options.required ?? false,
    description: options.description,
    check: (raw, path) =>
      typeof raw === 'string' ? { kind: 'save', value: raw } : refuse(path, 'must be a string'),
    resolve(configured, scope): Formula | { problem: string } {
      const template = parseTemplate(typeof configured === 'string' ? moveChains(configured) : '')
      const path = pathOf(template)
      if (path !== null) return { kind: 'path', value: scope.value(path.source), steps: path.steps }
      const bound = bindTokens(template)
      if (!bound.ok) return { problem: bound.message }
      const values = bound.bindings.map(({ source, as }) =>
        as === 'text' ? scope.text(source) : scope.value(source),
      )
      return { kind: 'code', code: bound.code, values }
    },
    read(resolved) {
      if (isObject(resolved) && typeof resolved['problem'] === 'string') {
        throw new FieldProblem(resolved['problem'])
      }
      return resolved as Formula
    },
    references: (configured) => (typeof configured === 'string' ? moveChains(configured) : configured),
  }
}

/** The text that an expression comes to. Plain reads cost no sandbox. */
export async function evaluateFormula(formula: Formula, sandbox: Sandbox): Promise<Evaluation> {
  if (formula.kind === 'code') return sandbox.evaluate(formula.code, formula.values)
  const walked = walkPath(formula.value, formula.steps)
  return walked.ok ? { ok: true, text: textOf(walked.value) } : walked
}

/** `{{x_1.person?.city}}`, with the chain inside the braces, is `{{x_1.person}}?.city`. Inputs may be named like that. */
function moveChains(text: string): string {
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
