import { isDeepStrictEqual } from 'node:util'
import type { ActionInstance, ConfiguredValue, Definition } from '../chain/definition.ts'
import { type InputRenames, renameInTexts } from '../chain/input-renames.ts'
import type { Catalogue } from '../registry.ts'
import { fieldOf, listReferences } from './references.ts'

/** A chain that follows renamed inputs. `isOwn` is true if the inputs are those of its own sheet. */
export type Following = { sheetId: string; isOwn: boolean; renames: InputRenames; catalogue: Catalogue }

/** A changed action and the fields that changed; `run_if` is its condition. */
export type FollowedAction = { action_instance_id: string; fields: string[] }

/** Renames inputs wherever the actions of a chain name them. Results stay valid, because every value stays the same. */
export function followRenames(
  definition: Definition,
  following: Following,
): { definition: Definition; changed: FollowedAction[] } {
  const changed: FollowedAction[] = []
  const actions = definition.actions.map((action) => {
    const next = followInAction(action, following)
    const known = Object.keys(following.catalogue.get(action.action_id)?.inputs ?? {})
    const fields = [...new Set([...known, ...Object.keys(next.inputs)])].filter(
      (name) => !isDeepStrictEqual(next.inputs[name], action.inputs[name]),
    )
    if (!isDeepStrictEqual(next.run_if, action.run_if)) fields.push('run_if')
    if (fields.length === 0) return action
    changed.push({ action_instance_id: action.id, fields })
    return next
  })
  return { definition: { ...definition, actions }, changed }
}

function followInAction(action: ActionInstance, following: Following): ActionInstance {
  const { isOwn, renames, catalogue, sheetId } = following
  const template = catalogue.get(action.action_id)
  const inputs = Object.entries(action.inputs).map(([name, value]): [string, ConfiguredValue] => {
    const field = fieldOf(template, name)
    const { namesInputs } = field ?? {}
    const target = namesInputs === undefined ? undefined : action.inputs[namesInputs.of]
    const theirs =
      namesInputs !== undefined && target === sheetId ? namesInputs.rename(value, renames) : value
    if (!isOwn) return [name, theirs]
    return [name, field?.renameInputs?.(theirs, renames) ?? renameInTexts(theirs, renames)]
  })
  return {
    ...action,
    inputs: Object.fromEntries(inputs),
    ...(isOwn && action.run_if !== undefined
      ? { run_if: { ...action.run_if, conditions: renameInTexts(action.run_if.conditions, renames) } }
      : {}),
  }
}

/** Lists the tokens of a chain that name inputs of its own sheet. */
export function listInputTokens({ actions }: Definition, catalogue: Catalogue): Set<string> {
  const sources = actions.flatMap((action) =>
    listReferences(action, catalogue.get(action.action_id)).flatMap(({ token, source }) =>
      token?.kind === 'input' ? [source] : [],
    ),
  )
  return new Set(sources)
}
