import type { ShownType, ViewColumn } from '#contract/views.ts'
import { parseTemplate, printToken, soleToken } from '../../catalog/chain/references.ts'
import { type ChainView, isKnown, typesIn } from '../../catalog/configuration/chain-view.ts'
import type { OutputSource } from '../../database/tables/selection.ts'
import { sourceOfOutput } from './value-sources.ts'

/** A column of a view that shows a value of an action's answers. */
export type ShownColumn = {
  name: string
  reference: string
  type: ShownType | null
  source: OutputSource
  /** Tells whether the path leads to something, as far as it is known. */
  isKnown: boolean
}

const TYPES: Record<string, ShownType> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  url: 'url',
  email: 'email',
  date: 'date',
  json: 'json',
  raw_array: 'json',
  structured_array: 'json',
}

/** Describes a column with a path. Returns undefined for any other column, and if its action is gone or its path cannot be read. */
export function describeShown(column: ViewColumn, chain: ChainView): ShownColumn | undefined {
  const { action_instance_id: action, path } = column
  if (action === undefined || path === undefined) return undefined
  const reference = `{{${action}.${path}}}`
  const token = soleToken(parseTemplate(reference))
  const instance = chain.definition.actions.find(({ id }) => id === action)
  if (token === null || token.kind === 'input' || token.kind === 'env' || instance === undefined)
    return undefined
  return {
    name: column.name ?? `${instance.display_name}: ${path}`,
    reference: printToken(token),
    type: TYPES[typesIn(chain)(token) ?? ''] ?? null,
    source: sourceOfOutput(token),
    isKnown: isKnown(token, chain),
  }
}
