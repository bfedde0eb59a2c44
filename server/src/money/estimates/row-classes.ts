import { evaluate } from '../../catalog/chain/condition-evaluate.ts'
import type { ActionInstance, Definition } from '../../catalog/chain/definition.ts'
import { listTokens } from '../../catalog/chain/reference-walk.ts'
import { parseTemplate, resolveValue } from '../../catalog/chain/references.ts'
import { createRowScope, type RowScope } from '../../catalog/chain/row-scope.ts'
import { cacheKeyOf, readInputs, resolveInputs } from '../../catalog/configuration/inputs.ts'
import type { Action } from '../../catalog/define.ts'
import { StoredJson } from '../../lib/json/stored-json.ts'

/** An action of the run, with its template. */
export type RunAction = { instance: ActionInstance; template: Action }

/** The state of a cell that is known before it runs: `skipped`, or it may run, with its cache key if its inputs are known. */
export type Foreseen = 'skipped' | { key: string | null }

export type ForeseenRow = { data: string | null; cells: string | null }

/** The cells of one row, predicted in the order of its actions. */
export type RowForecast = {
  /** Predicts the cell at this place. */
  foresee(place: number): Foreseen
  /** Adds the cached outputs of the cell at this place, so that cells that depend on them can be predicted too. */
  store(place: number, outputs: string): void
}

/**
 * Creates a prediction of rows' cells. Outputs of the run's actions that are not cached, and environment variables, are
 * unknown: cells that depend on them may run. Nothing is known of a row that does not exist yet or is too large to read
 * (`data` null).
 */
export function createForecast(
  definition: Definition,
  actions: readonly RunAction[],
  rules: {
    cached: boolean
    continueOnFail: boolean
    knowsOutput: (actionId: string, name: string) => boolean
  },
): (row: ForeseenRow) => RowForecast {
  const running = new Set(actions.map(({ instance }) => instance.id))
  const plan = actions.map(({ instance, template }) => ({
    instance,
    template,
    condition: listUnknown(instance.run_if ?? null, running),
    inputs: listUnknown(instance.inputs, running),
    continuesOnFail: instance.continue_workflow_if_action_fails ?? rules.continueOnFail,
  }))
  const env = new Map<string, string>()

  return ({ data, cells }) => {
    if (data === null) return { foresee: () => ({ key: null }), store: () => undefined }
    const scope = createRowScope(definition, { data, cells }, rules.knowsOutput, env)
    const stored = new Set<string>()
    const isKnown = (unknown: Unknown) => unknown !== 'never' && unknown.every((action) => stored.has(action))
    let ended = false
    const foresee = (place: number): Foreseen => {
      const cell = plan[place]
      if (cell === undefined || ended) return 'skipped'
      const { instance, template, continuesOnFail } = cell
      const knowsCondition = isKnown(cell.condition)
      if (knowsCondition) {
        const result = checkCondition(instance, scope)
        if (result === 'missing') {
          ended = !continuesOnFail
          return 'skipped'
        }
        if (!result) {
          ended = instance.run_if?.continue_workflow_if_run_condition_not_met !== true
          return 'skipped'
        }
      }
      if (!isKnown(cell.inputs)) return { key: null }
      const { resolved, missing } = resolveInputs(template, instance.inputs, scope.lookup)
      const read = missing.length > 0 ? null : readInputs(template, resolved)
      if (read === null || !read.ok) {
        // An unknown condition may end the row before its inputs matter. In both cases the cell does not run.
        ended = knowsCondition && !continuesOnFail
        return 'skipped'
      }
      // A row that does not pass a filter ends there.
      if (template.id === 'filter' && read.inputs['path_conditions'] === false && knowsCondition) ended = true
      return { key: rules.cached && template.cached ? cacheKeyOf(resolved) : null }
    }
    const store = (place: number, outputs: string) => {
      const cell = plan[place]
      // An unknown condition may skip the cell, which then has no outputs.
      if (cell === undefined || !isKnown(cell.condition)) return
      scope.add(cell.instance.id, 'complete', new StoredJson(outputs))
      stored.add(cell.instance.id)
    }
    return { foresee, store }
  }
}

/**
 * The actions of the run whose outputs must be known before this part is known; `never` if the part refers to an environment
 * variable.
 */
type Unknown = 'never' | readonly string[]

function listUnknown(part: unknown, running: ReadonlySet<string>): Unknown {
  const tokens = listTokens(part).map(({ token }) => token)
  if (tokens.some(({ kind }) => kind === 'env')) return 'never'
  return tokens.flatMap((token) => ('action' in token && running.has(token.action) ? [token.action] : []))
}

function checkCondition({ run_if }: ActionInstance, scope: RowScope): boolean | 'missing' {
  if (run_if === undefined) return true
  let missing = false
  const met = evaluate(run_if.conditions, (text) => {
    const resolved = resolveValue(parseTemplate(text), scope.lookup)
    missing ||= resolved.missing.length > 0
    return resolved.value
  })
  return missing ? 'missing' : met
}
