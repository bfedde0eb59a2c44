import { type Definition, findInstance } from './definition.ts'
import { listTokens } from './reference-walk.ts'

/**
 * Returns true if a run of these actions may read a row's results of earlier runs: an action refers to another one that
 * does not come before it in the run.
 */
export function readsEarlierResults(definition: Definition, actions: readonly string[]): boolean {
  const passed = new Set<string>()
  for (const id of actions) {
    const instance = findInstance(definition, id)
    for (const { token } of listTokens([instance?.inputs, instance?.run_if]))
      if ('action' in token && !passed.has(token.action)) return true
    passed.add(id)
  }
  return false
}
