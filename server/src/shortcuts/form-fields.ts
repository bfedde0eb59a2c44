import type { ActionInstance, Definition } from '../catalog/chain/definition.ts'
import { listTokens } from '../catalog/chain/reference-walk.ts'
import { findInputPath } from '../catalog/chain/value-path.ts'
import { renameEmpty } from '../catalog/configuration/inputs.ts'
import type { FrozenInput } from '../database/connection/json-columns.ts'

/**
 * Returns the error of a halted row with the names of the form's fields: the person who filled in the form
 * does not know the inputs of the actions behind it.
 */
export function nameFormFields(
  error: string | null,
  action: ActionInstance,
  definition: Definition,
  fields: readonly FrozenInput[],
): string | null {
  if (error === null) return null
  return renameEmpty(error, (input) => listFields(action.inputs[input], definition, fields) ?? input)
}

/** Returns the fields that an input is filled from, or undefined if it contains anything else. */
function listFields(
  configured: unknown,
  { inputs }: Definition,
  fields: readonly FrozenInput[],
): string | undefined {
  const references = listTokens(configured).map(({ token }) => {
    if (token.kind !== 'input') return undefined
    const path = findInputPath(token.name, (name) => inputs.some((input) => input.name === name))
    const column = inputs.find((input) => input.name === path?.head)?.column
    return fields.find((field) => field.column === column)?.reference
  })
  if (references.length === 0 || references.includes(undefined)) return undefined
  return [...new Set(references)].join(', ')
}
