import { cacheKeyOf, readInputs, resolveInputs } from '../catalog/configuration/inputs.ts'
import type { Action } from '../catalog/define.ts'
import { evaluate } from '../chain/condition-evaluate.ts'
import type { ActionInstance, Definition } from '../chain/definition.ts'
import { listTokens } from '../chain/reference-walk.ts'
import { parseTemplate, resolveValue } from '../chain/references.ts'
import { createRowScope, type RowScope } from '../chain/row-scope.ts'

/** An action of the run, with its template. */
export type RunAction = { instance: ActionInstance; template: Action }

/** What is known of a cell before it runs: that it will not, or that it may, with its cache key where its inputs are known. */
export type Foreseen = 'skipped' | { key: string | null }

export type ForeseenRow = { data: string | null; cells: string | null }

/**
 * Foresees the cells of a row. What actions of the run give, and environment variables, are not known before: whatever depends
 * on them may run. A row that is not there yet, or too large to look at (`data` null), has nothing known.
 */
export function createForesight(
  definition: Definition,
  actions: readonly RunAction[],
  rules: {
    cached: boolean
    continueOnFail: boolean
    knowsOutput: (actionId: string, name: string) => boolean
  },
): (row: ForeseenRow) => Foreseen[] {
  const running = new Set(actions.map(({ instance }) => instance.id))
  const isKnown = (part: unknown) =>
    listTokens(part).every(({ token }) =>
      token.kind === 'env' ? false : 'action' in token ? !running.has(token.action) : true,
    )
  const plan = actions.map(({ instance, template }) => ({
    instance,
    template,
    knowsCondition: isKnown(instance.run_if ?? null),
    knowsInputs: isKnown(instance.inputs),
    goesOnFailed: instance.continue_workflow_if_action_fails ?? rules.continueOnFail,
  }))
  const env = new Map<string, string>()

  return ({ data, cells }) => {
    if (data === null) return plan.map(() => ({ key: null }))
    const scope = createRowScope(definition, { data, cells }, rules.knowsOutput, env)
    let ended = false
    return plan.map(({ instance, template, knowsCondition, knowsInputs, goesOnFailed }): Foreseen => {
      if (ended) return 'skipped'
      if (knowsCondition) {
        const gate = holds(instance, scope)
        if (gate === 'missing') {
          ended = !goesOnFailed
          return 'skipped'
        }
        if (!gate) {
          ended = instance.run_if?.continue_workflow_if_run_condition_not_met !== true
          return 'skipped'
        }
      }
      if (!knowsInputs) return { key: null }
      const { resolved, missing } = resolveInputs(template, instance.inputs, scope.lookup)
      const read = missing.length > 0 ? null : readInputs(template, resolved)
      if (read === null || !read.ok) {
        // A condition that is not known may end the row before its inputs matter: either way it does not run.
        ended = knowsCondition && !goesOnFailed
        return 'skipped'
      }
      // Nothing comes after a filter that a row does not pass.
      if (template.id === 'filter' && read.inputs['path_conditions'] === false && knowsCondition) ended = true
      return { key: rules.cached && template.cached ? cacheKeyOf(resolved) : null }
    })
  }
}

function holds({ run_if }: ActionInstance, scope: RowScope): boolean | 'missing' {
  if (run_if === undefined) return true
  let missing = false
  const met = evaluate(run_if.conditions, (text) => {
    const resolved = resolveValue(parseTemplate(text), scope.lookup)
    missing ||= resolved.missing.length > 0
    return resolved.value
  })
  return missing ? 'missing' : met
}
