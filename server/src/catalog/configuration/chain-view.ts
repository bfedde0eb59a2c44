import type { TypeOf } from '../chain/condition-check.ts'
import type { ActionInstance, Definition, InputColumn } from '../chain/definition.ts'
import type { Token } from '../chain/references.ts'
import { findInputPath, type OutputToken, pathOf, type Steps } from '../chain/value-path.ts'
import type { Action } from '../define.ts'
import { describeOutputs, type Discovered, type OutputDescriptor, outputsOf } from '../describe.ts'
import type { OutputType } from '../outputs.ts'
import type { Catalogue } from '../registry.ts'

/** What runs have told of outputs, by action instance. */
export type DiscoveredOutputs = ReadonlyMap<string, readonly Discovered[]>

/** A definition together with what is known of its actions. */
export type ChainView = { definition: Definition; links: ReadonlyMap<string, ChainLink> }

export type ChainLink = {
  place: number
  /** Absent when the catalogue does not have it any more. */
  template: Action | undefined
  outputs: OutputDescriptor[]
  /** Outputs whose values may be of another type than the one they are shown with. */
  anyType: ReadonlySet<string>
  /** Whether there may be outputs that no run has shown yet. */
  open: boolean
}

export function viewChain(
  definition: Definition,
  catalogue: Catalogue,
  discovered: DiscoveredOutputs,
): ChainView {
  const links = definition.actions.map((action, place): [string, ChainLink] => [
    action.id,
    { place, ...viewOutputs(catalogue.get(action.action_id), action, discovered.get(action.id)) },
  ])
  return { definition, links: new Map(links) }
}

function viewOutputs(
  template: Action | undefined,
  action: ActionInstance,
  seen: readonly Discovered[] | undefined,
): Omit<ChainLink, 'place'> {
  if (template === undefined) return { template, outputs: [], anyType: new Set(), open: true }
  const known = outputsOf(template, action.inputs)
  const declared = Object.keys(known.outputs)
  const anyType = [
    ...declared.filter((name) => known.outputs[name]?.anyType),
    ...(seen ?? [])
      .filter(({ name, anyType }) => anyType && !declared.includes(name))
      .map(({ name }) => name),
  ]
  return {
    template,
    outputs: describeOutputs(template, action, seen),
    anyType: new Set(anyType),
    open: !known.closed && seen === undefined,
  }
}

/** The stored type of what a token names, which decides the operators of conditions over it (D34). */
export function typesIn(chain: ChainView): TypeOf {
  return (token) => {
    if (token.kind === 'input') return chain.definition.inputs.find(({ name }) => name === token.name)?.type
    if (token.kind !== 'output') return undefined
    const link = chain.links.get(token.action)
    if (link === undefined || link.anyType.has(token.name)) return undefined
    return link.outputs.find(({ name }) => name === token.name)?.type
  }
}

/** Whether a token in the configuration of `action` names something, and something that comes before it. */
export function standingOf(
  token: Exclude<Token, { kind: 'env' }>,
  action: ActionInstance,
  chain: ChainView,
): 'known' | 'unknown' | 'downstream' {
  if (token.kind === 'input') {
    return hasInput(chain.definition.inputs, token.name) ? 'known' : 'unknown'
  }
  const link = chain.links.get(token.action)
  if (link === undefined) return 'unknown'
  const own = chain.links.get(action.id)
  if (own !== undefined && link.place >= own.place) return 'downstream'
  return hasOutput(link, token) ? 'known' : 'unknown'
}

/** Numbers, addresses and links hold nothing that a path could lead to; text may be JSON (D75). */
function hasInput(inputs: readonly InputColumn[], text: string): boolean {
  const types = new Map(inputs.map(({ name, type }) => [name, type]))
  const path = findInputPath(text, (name) => types.has(name))
  return path !== null && (path.steps.length === 0 || types.get(path.head) === 'string')
}

function hasOutput({ outputs, anyType, open }: ChainLink, token: OutputToken): boolean {
  const { head, steps } = pathOf(token)
  const output = outputs.find(({ name }) => name === head)
  if (output === undefined) return open
  if (steps.length === 0 || anyType.has(head)) return true
  if (PLAIN_TYPES.has(output.type)) return false
  if (open || output.type === 'json') return true
  return output.type === 'raw_array' ? typeof steps[0] === 'number' : hasColumn(output, token, steps)
}

/** While no run has shown the columns of a list, any may be among them. */
function hasColumn({ columns = [] }: OutputDescriptor, token: OutputToken, steps: Steps): boolean {
  const [key, ...further] = typeof steps[0] === 'number' ? steps.slice(1) : steps
  if (columns.length === 0 || key === undefined) return true
  if (token.kind === 'column' && columns.some(({ name }) => name === token.column)) return true
  const column = columns.find(({ name }) => name === key)
  return column !== undefined && (further.length === 0 || !PLAIN_TYPES.has(column.type))
}

const PLAIN_TYPES: ReadonlySet<OutputType> = new Set<OutputType>(['string', 'url', 'email', 'number', 'date'])
