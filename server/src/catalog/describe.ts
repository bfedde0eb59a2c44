import type { InputDescriptor } from '#contract/actions.ts'
import type { ActionInstance } from './chain/definition.ts'
import { printToken } from './chain/references.ts'
import type { Action } from './define.ts'
import type { ConfiguredOutputs } from './outputs.ts'
import type { OutputType } from './outputs.ts'
import type { Discovered } from './values/discover.ts'

export { type Discovered, discoverOutputs } from './values/discover.ts'

export type OutputDescriptor = {
  name: string
  type: OutputType
  reference: string
  description?: string
  columns?: ColumnDescriptor[]
  choices?: string[]
}

export type ColumnDescriptor = { name: string; type: OutputType; structured_array_reference: string }

export function describeInputs(action: Action): InputDescriptor[] {
  return Object.entries(action.inputs).map(([name, field]) => {
    const { type, required, description, label, help, placeholder, group, kind } = field
    return { name, type, required, description, label, help, placeholder, group, kind }
  })
}

/**
 * Returns the outputs of an instance: the declared ones, with the columns that a run has shown and, for dynamic
 * actions, further outputs.
 */
export function describeOutputs(
  action: Action,
  { id: instanceId, inputs }: Pick<ActionInstance, 'id' | 'inputs'>,
  discovered: readonly Discovered[] = [],
): OutputDescriptor[] {
  const found = new Map(discovered.map((entry) => [entry.name, entry]))
  const { outputs, closed } = outputsOf(action, inputs)
  const declared = Object.entries(outputs).map(([name, { type, description, columns, choices }]) => {
    const known = columns && Object.entries(columns).map(([name, type]) => ({ name, type }))
    return {
      ...describeOutput(instanceId, { name, type, columns: known ?? found.get(name)?.columns, description }),
      ...(choices === undefined ? {} : { choices: [...choices] }),
    }
  })
  // A declared output keeps its type, whatever a run has shown (D74).
  const further = closed ? [] : discovered.filter(({ name }) => !Object.hasOwn(outputs, name))
  return [...declared, ...further.map((entry) => describeOutput(instanceId, entry))]
}

/**
 * Returns the outputs that are known without a run: those of the template and those that the configuration names (D74).
 */
export function outputsOf(
  action: Pick<Action, 'outputs' | 'dynamic' | 'configured'>,
  inputs: ActionInstance['inputs'],
): ConfiguredOutputs & { areNamed: boolean } {
  const named = action.configured?.(inputs)
  return {
    outputs: { ...named?.outputs, ...action.outputs },
    closed: named?.closed ?? !action.dynamic,
    areNamed: named !== undefined,
  }
}

/** Returns true if runs show more about the outputs than the definition declares. */
export function learnsFromRuns(action: Action): boolean {
  return (
    action.dynamic ||
    Object.values(action.outputs).some(
      ({ type, columns }) => type === 'structured_array' && columns === undefined,
    )
  )
}

type Known = {
  name: string
  type: OutputType
  columns?: Discovered['columns'] | undefined
  description?: string
}

function describeOutput(action: string, { name, type, columns = [], description }: Known): OutputDescriptor {
  const described = columns.map((column) => ({
    ...column,
    structured_array_reference: printToken({ kind: 'column', action, list: name, column: column.name }),
  }))
  return {
    name,
    type,
    reference: printToken({ kind: 'output', action, name }),
    ...(description === undefined ? {} : { description }),
    ...(type === 'structured_array' ? { columns: described } : {}),
  }
}
