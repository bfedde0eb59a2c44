import type { GraphNode } from '#contract/actions.ts'
import type { ActionInstance, Definition } from '../chain/definition.ts'
import { INPUT_NODE } from '../chain/edit.ts'
import { printToken } from '../chain/references.ts'
import type { Action } from '../define.ts'
import type { Catalogue } from '../registry.ts'
import type { ChainLink, ChainView } from './chain-view.ts'
import { fieldOf, listReferences } from './references.ts'

/** Returns the chain as callers see it, in topological order: the synthetic input node, then every action. */
export function toGraph(chain: ChainView): GraphNode[] {
  return [
    inputNode(chain.definition),
    ...chain.definition.actions.map((action) => toGraphNode(action, chain)),
  ]
}

function inputNode({ inputs, actions }: Definition): GraphNode {
  return {
    action_instance_id: INPUT_NODE,
    action_id: INPUT_NODE,
    display_name: 'Inputs',
    outputs: inputs.map(({ name, type, description }) => ({
      name,
      // Outputs have no type of their own for texts from a list.
      type: type === 'select' ? 'string' : type,
      reference: printToken({ kind: 'input', name }),
      description,
    })),
    next: actions.slice(0, 1).map(({ id }) => id),
  }
}

export function toGraphNode(action: ActionInstance, { definition, links }: ChainView): GraphNode {
  const link = links.get(action.id)
  const { id, action_id, display_name, inputs, run_if, continue_workflow_if_action_fails, note } = action
  const place = link?.place ?? definition.actions.length
  return {
    action_instance_id: id,
    action_id,
    display_name,
    inputs: showInputs(inputs, link?.template),
    ...(hasOutputs(link) ? { outputs: link.outputs } : {}),
    ...(continue_workflow_if_action_fails === undefined ? {} : { continue_workflow_if_action_fails }),
    ...(run_if === undefined ? {} : { run_if }),
    ...(note === undefined ? {} : { note }),
    next: definition.actions.slice(place + 1, place + 2).map((next) => next.id),
  }
}

/** Returns true if an action has outputs. A dynamic one has them even while none of them is known. */
function hasOutputs(link: ChainLink | undefined): link is ChainLink {
  return link?.template !== undefined && (link.template.dynamic || link.outputs.length > 0)
}

/** Shows inputs in the order of the template, which stored JSON does not keep. */
export function showInputs(
  inputs: ActionInstance['inputs'],
  template: Action | undefined,
): Record<string, unknown> {
  const names = [...new Set([...Object.keys(template?.inputs ?? {}), ...Object.keys(inputs)])]
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(inputs, name))
      .map((name) => [name, showInput(name, inputs, template)]),
  )
}

function showInput(name: string, inputs: ActionInstance['inputs'], template: Action | undefined): unknown {
  const value = inputs[name]
  const field = fieldOf(template, name)
  return value === undefined || field?.show === undefined ? value : field.show(value)
}

export type Dependent = { action_instance_id: string; inputs: Record<string, unknown> }

/**
 * Lists the actions that refer to outputs of an action, each with only the fields that do (D60: run conditions count).
 */
export function listDependents(id: string, { actions }: Definition, catalogue: Catalogue): Dependent[] {
  return actions.flatMap((action): Dependent[] => {
    const template = catalogue.get(action.action_id)
    const affected = listReferences(action, template).filter(
      ({ token }) => (token?.kind === 'output' || token?.kind === 'column') && token.action === id,
    )
    if (affected.length === 0) return []
    const fields = affected.map(({ input }): [string, unknown] =>
      input === undefined ? ['run_if', action.run_if] : [input, showInput(input, action.inputs, template)],
    )
    return [{ action_instance_id: action.id, inputs: Object.fromEntries(fields) }]
  })
}
