import type { ActionInstance } from '../chain/definition.ts'
import { listMalformed, listTokens } from '../chain/reference-walk.ts'
import type { Token } from '../chain/references.ts'
import type { Action } from './define.ts'
import { type Field, isObject } from './field.ts'

/** A reference in a configuration, or (without a token) text that stands for one and is none. */
export type Reference = {
  /** The input that holds it; undefined for the run condition. */
  input: string | undefined
  /** Where exactly, like `inputs.body[0].value`. */
  path: string
  source: string
  token: Token | undefined
}

export function fieldOf(template: Action | undefined, name: string): Field | undefined {
  return template !== undefined && Object.hasOwn(template.inputs, name) ? template.inputs[name] : undefined
}

export function listReferences(action: ActionInstance, template: Action | undefined): Reference[] {
  const inInputs = Object.entries(action.inputs).flatMap(([input, value]) => {
    const path = `inputs.${input}`
    const field = fieldOf(template, input)
    // Where a field says what of its value holds references, paths inside that are not those of the value.
    if (field?.references !== undefined) {
      return walk(field.references(value), path).map((found) => ({ ...found, input, path }))
    }
    const bare = field?.conditions?.over === 'row' ? listBareVariables(value, path) : []
    return [...walk(value, path), ...bare].map((found) => ({ ...found, input }))
  })
  const groups = action.run_if?.conditions ?? []
  const path = 'run_if.conditions'
  const inRunIf = [...walk(groups, path), ...listBareVariables(groups, path)]
  return [...inInputs, ...inRunIf.map((found) => ({ ...found, input: undefined }))]
}

type Found = Omit<Reference, 'input'>

function walk(value: unknown, path: string): Found[] {
  return [
    ...listTokens(value, path),
    ...listMalformed(value, path).map((found) => ({ ...found, token: undefined })),
  ]
}

/** Variables of conditions that are plain text, without anything that could be taken for a reference. */
function listBareVariables(groups: unknown, path: string): Found[] {
  return asList(groups).flatMap((group, outer) =>
    asList(isObject(group) ? group['conditions'] : undefined).flatMap((leaf, inner): Found[] => {
      const variable = isObject(leaf) ? leaf['variable'] : undefined
      if (typeof variable !== 'string' || variable.includes('{{')) return []
      return [
        { path: `${path}[${outer}].conditions[${inner}].variable`, source: variable, token: undefined },
      ]
    }),
  )
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
