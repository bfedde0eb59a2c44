import type { InputType } from '#contract/inputs.ts'
import type { RunIf } from './condition-shape.ts'

/** A sheet's input columns and its action chain, in order. One immutable revision holds one definition. */
export type Definition = { inputs: InputColumn[]; actions: ActionInstance[] }

export type InputColumn = {
  /**
   * The number of the column in stored rows. It is never reused, so that the values of a removed column do not come back
   * in a new column of the same name.
   */
  column: number
  name: string
  type: InputType
  description: string
  /** The values that an input of type select offers. */
  choices?: readonly string[]
  /**
   * The earlier names of the input, the latest last. Rows that are sent from elsewhere under such a name still reach it:
   * runs of other sheets that began before, and senders of webhooks.
   */
  former_names?: readonly string[]
}

export type { InputType }

/** One configured action of the chain. `epoch` counts the changes that make cached results stale (D26). */
export type ActionInstance = {
  id: string
  action_id: string
  display_name: string
  inputs: Record<string, ConfiguredValue>
  run_if?: RunIf
  continue_workflow_if_action_fails?: boolean
  note?: string
  /** The API key with which the inputs were last saved, if they were ever saved with one. */
  configured_with?: string
  epoch: number
}

/** Finds an action instance. It is called for every cell, so it uses a loop without allocations. */
export function findInstance({ actions }: Definition, id: string): ActionInstance | undefined {
  for (const instance of actions) if (instance.id === id) return instance
  return undefined
}

/** The configured value of one field, checked and normalised by the field's definition. */
export type ConfiguredValue = string | boolean | readonly unknown[] | Record<string, unknown>

export const EMPTY_DEFINITION: Definition = { inputs: [], actions: [] }
