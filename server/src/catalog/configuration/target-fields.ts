import type { ActionInstance, Definition } from '../chain/definition.ts'
import { listTokens } from '../chain/reference-walk.ts'
import type { Action } from '../define.ts'
import { hasToken } from '../fields/field.ts'

/** Lists the fields of an action that name a sheet. */
export function listTargetFields(template: Action | undefined): string[] {
  return Object.entries(template?.inputs ?? {}).flatMap(([name, { options }]) =>
    options !== undefined && 'from' in options && options.from === 'sheets' ? [name] : [],
  )
}

/**
 * Lists the keys with which an action's target sheet was configured: those of the action itself and of the actions from
 * which its token gets the value. Returns null if the sheet is named literally, because that was authorised when it was
 * configured.
 */
export function listTargetKeys(
  { actions }: Definition,
  instanceId: string,
  templateOf: (actionId: string) => Action | undefined,
): string[] | null {
  const byId = new Map(actions.map((action) => [action.id, action]))
  const instance = byId.get(instanceId)
  if (instance === undefined) return []
  const targets = listTargetFields(templateOf(instance.action_id)).flatMap((name) =>
    Object.hasOwn(instance.inputs, name) ? [instance.inputs[name]] : [],
  )
  if (targets.length > 0 && targets.every((value) => typeof value === 'string' && !hasToken(value)))
    return null
  const sources = new Set<ActionInstance>([instance])
  const follow = (value: unknown) => {
    for (const { token } of listTokens(value)) {
      const source = 'action' in token ? byId.get(token.action) : undefined
      if (source !== undefined) sources.add(source)
    }
  }
  follow(targets)
  // Iteration over a set also visits items added during it. Of the action itself only the target counts.
  for (const source of sources) if (source !== instance) follow(source.inputs)
  return [...sources].flatMap(({ configured_with: key }) => (key === undefined ? [] : [key]))
}
