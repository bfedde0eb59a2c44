import type { INPUT_TYPES } from '#contract/inputs.ts'
import type { RunIf } from './condition-shape.ts'

/** What a sheet does: its input columns and its action chain, in order. One immutable revision holds one of these. */
export type Definition = { inputs: InputColumn[]; actions: ActionInstance[] }

export type InputColumn = {
  /** Names the column in stored rows; never reused, so a removed column does not come back under the same name. */
  column: number
  name: string
  type: InputType
  description: string
}

export type InputType = (typeof INPUT_TYPES)[number]

/** One action of the chain as it is configured. `epoch` counts the changes that make cached results stale (D26). */
export type ActionInstance = {
  id: string
  action_id: string
  display_name: string
  inputs: Record<string, ConfiguredValue>
  run_if?: RunIf
  continue_workflow_if_action_fails?: boolean
  note?: string
  /** The key whose holder saved its inputs last; not there when they were never saved through a key. */
  configured_with?: string
  epoch: number
}

/** Asked for every cell: a loop, which makes nothing. */
export function findInstance({ actions }: Definition, id: string): ActionInstance | undefined {
  for (const instance of actions) if (instance.id === id) return instance
  return undefined
}

/** What a caller configured for one field, checked and normalised by that field's definition. */
export type ConfiguredValue = string | boolean | readonly unknown[] | Record<string, unknown>

export const EMPTY_DEFINITION: Definition = { inputs: [], actions: [] }
