import type { SourceState } from '#contract/sources.ts'
import type { Input } from '../../../api/sheet.ts'
import { nameWords } from '../../../ui/name-words.ts'
import { guessTargets, NEW_INPUT, NOT_IMPORTED } from '../../import/mapping.ts'

export const NEW_WORKFLOW = '+'
export const NO_WORKFLOW = '-'

/** The choice of where the records of a new source go. `targets` has the fields for which a person chose a column. */
export type Mapping = {
  workflow: string
  workflowName: string
  targets: Readonly<Record<string, string>>
  onChange: SourceState['syncs'][number]['on_change']
  cap: string
}

export const NEW_MAPPING: Mapping = {
  workflow: NEW_WORKFLOW,
  workflowName: '',
  targets: {},
  onChange: 'ignore',
  cap: '',
}

/** Returns the column that a field fills: the chosen one, else one of the same name, else a new one. */
export function findTarget(
  field: string,
  fields: readonly string[],
  { targets }: Mapping,
  known: readonly Input[],
): string {
  return targets[field] ?? guessTargets(fields, known)[field] ?? NEW_INPUT
}

/** Returns the name of the column that a field fills, or null if it fills none. */
export function findColumn(
  field: string,
  fields: readonly string[],
  mapping: Mapping,
  known: readonly Input[],
): string | null {
  const target = findTarget(field, fields, mapping, known)
  if (target === NOT_IMPORTED) return null
  return target === NEW_INPUT ? nameWords(field) : target
}

/** Lists the fields whose column another field fills too. */
export function listTwice(
  fields: readonly string[],
  mapping: Mapping,
  known: readonly Input[],
): ReadonlySet<string> {
  const byColumn = Map.groupBy(fields, (field) => findColumn(field, fields, mapping, known))
  return new Set(
    [...byColumn].flatMap(([column, filling]) => (column !== null && filling.length > 1 ? filling : [])),
  )
}
