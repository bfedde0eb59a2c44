import { isObject } from '../../lib/json/object.ts'
import type { ActionInstance, ConfiguredValue } from '../chain/definition.ts'
import { listMalformed, listTokens } from '../chain/reference-walk.ts'
import type { Token } from '../chain/references.ts'
import type { Action } from '../define.ts'
import type { Field } from '../fields/field.ts'

/** A reference in a configuration or, without a token, text that stands for a reference and is none. */
export type Reference = {
  /** The input that holds it; undefined for the run condition. */
  input: string | undefined
  /** The exact place, such as `inputs.body[0].value`. */
  path: string
  source: string
  token: Token | undefined
}

export function fieldOf(template: Action | undefined, name: string): Field | undefined {
  return template !== undefined && Object.hasOwn(template.inputs, name) ? template.inputs[name] : undefined
}

export function listReferences(action: ActionInstance, template: Action | undefined): Reference[] {
  return [
    ...Object.entries(action.inputs).flatMap(([input, value]) =>
      listInInput(input, value, fieldOf(template, input)),
    ),
    ...listInConditions(action.run_if?.conditions ?? [], 'run_if.conditions', undefined),
  ]
}

function listInInput(input: string, value: ConfiguredValue, field: Field | undefined): Reference[] {
  const path = `inputs.${input}`
  if (field?.references !== undefined) {
    // A field that lists its own references does not keep the paths of the value.
    return walk(field.references(value), path, input).map(({ source, token }) => ({
      input,
      path,
      source,
      token,
    }))
  }
  return field?.conditions?.over === 'row' ? listInConditions(value, path, input) : walk(value, path, input)
}

function walk(value: unknown, path: string, input: string | undefined): Reference[] {
  return [
    ...listTokens(value, path).map(({ path, source, token }) => ({ input, path, source, token })),
    ...listMalformed(value, path).map(({ path, source }) => ({ input, path, source, token: undefined })),
  ]
}

/** Lists references as everywhere, and also variables of plain text, which contain no reference. */
function listInConditions(groups: unknown, path: string, input: string | undefined): Reference[] {
  const bare = asList(groups).flatMap((group, outer) =>
    asList(isObject(group) ? group['conditions'] : undefined).flatMap((leaf, inner): Reference[] => {
      const variable = isObject(leaf) ? leaf['variable'] : undefined
      if (typeof variable !== 'string' || variable.includes('{{')) return []
      const at = `${path}[${outer}].conditions[${inner}].variable`
      return [{ input, path: at, source: variable, token: undefined }]
    }),
  )
  return [...walk(groups, path, input), ...bare]
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
