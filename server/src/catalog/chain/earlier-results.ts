import { type Definition, findInstance } from './definition.ts'
import { listTokens } from './reference-walk.ts'

/**
 * Whether a run of these actions may read results that a row has from runs before: some action names another that does not come before
 * it in the run.
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
