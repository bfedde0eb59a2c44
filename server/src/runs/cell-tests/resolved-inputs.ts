import { isDeepStrictEqual } from 'node:util'
import { evaluate } from '../../catalog/chain/condition-evaluate.ts'
import type { ActionInstance } from '../../catalog/chain/definition.ts'
import { type Lookup, parseTemplate, printToken, resolveValue } from '../../catalog/chain/references.ts'
import { resolveInputs } from '../../catalog/configuration/inputs.ts'
import type { Action } from '../../catalog/define.ts'

/** An action on a row before it is called: its inputs as people may see them, and whether its condition is met. */
export type ResolvedAction = { resolved: Record<string, unknown>; met: boolean | null }

/** The length at which a value is cut, in characters of text or JSON. */
const MAX_SHOWN = 20_000

/** Resolves the inputs and the condition of an action on a row. Environment variables stay references: they are secrets. */
export function resolveAction(template: Action, instance: ActionInstance, lookup: Lookup): ResolvedAction {
  const openly: Lookup = (token) =>
    token.kind === 'env' ? { found: true, value: printToken(token) } : lookup(token)
  const { resolved } = resolveInputs(template, instance.inputs, openly)
  const shown = Object.entries(resolved).map(([name, value]) => {
    const configured = instance.inputs[name]
    const field = template.inputs[name]
    if (field?.kind === 'formula' && typeof configured === 'string')
      return [name, cut(fillFormula(configured, openly))]
    const isFixed = configured !== undefined && isDeepStrictEqual(value, configured)
    return [name, cut(isFixed && field?.show !== undefined ? field.show(configured) : value)]
  })
  return { resolved: Object.fromEntries(shown), met: isMet(instance, lookup) }
}

/** Returns whether the condition is met; null without a condition. A reference that leads nowhere counts as empty. */
export function isMet({ run_if }: Pick<ActionInstance, 'run_if'>, lookup: Lookup): boolean | null {
  if (run_if === undefined) return null
  return evaluate(run_if.conditions, (text) => resolveValue(parseTemplate(text), lookup).value)
}

/** Returns a formula with the values of the row as constants. */
const fillFormula = (formula: string, lookup: Lookup): string =>
  parseTemplate(formula)
    .map((part) => {
      if (part.kind === 'text') return part.text
      const value = lookup(part.token)
      return value.found ? JSON.stringify(value.value) : part.source
    })
    .join('')

function cut(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text === undefined || text.length <= MAX_SHOWN) return value
  return `${text.slice(0, MAX_SHOWN)}…`
}
