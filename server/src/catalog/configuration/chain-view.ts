import type { TypeOf } from '../chain/condition-check.ts'
import type { ActionInstance, Definition, InputColumn } from '../chain/definition.ts'
import type { Token } from '../chain/references.ts'
import { findInputPath, type OutputToken, pathOf, type Steps } from '../chain/value-path.ts'
import type { Action } from '../define.ts'
import { describeOutputs, type Discovered, type OutputDescriptor, outputsOf } from '../describe.ts'
import type { OutputType } from '../outputs.ts'
import type { Catalogue } from '../registry.ts'

/** The outputs that runs have shown, by action instance. */
export type DiscoveredOutputs = ReadonlyMap<string, readonly Discovered[]>

/** A definition together with what is known about its actions. */
export type ChainView = { definition: Definition; links: ReadonlyMap<string, ChainLink> }

export type ChainLink = {
  place: number
  /** Absent if the catalogue no longer has the template. */
  template: Action | undefined
  outputs: OutputDescriptor[]
  /** The outputs whose values may have another type than the one they are shown with. */
  anyType: ReadonlySet<string>
  /** Set if there may be outputs that no run has shown yet. */
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

/** Returns the stored type of what a token names, which decides the operators of conditions over it (D34). */
export function typesIn(chain: ChainView): TypeOf {
  return (token) => {
    if (token.kind === 'input') return chain.definition.inputs.find(({ name }) => name === token.name)?.type
    if (token.kind !== 'output') return undefined
    const link = chain.links.get(token.action)
    if (link === undefined || link.anyType.has(token.name)) return undefined
    return link.outputs.find(({ name }) => name === token.name)?.type
  }
}

/** Returns whether a token in the configuration of `action` is known, unknown, or refers to a later action. */
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

/** Returns true if the sheet has what a token names, or an action may still show it. */
export function isKnown(token: Token, { definition, links }: ChainView): boolean {
  if (token.kind === 'env') return false
  if (token.kind === 'input') return hasInput(definition.inputs, token.name)
  const link = links.get(token.action)
  return link !== undefined && hasOutput(link, token)
}

/**
 * Returns true if an input exists. A path can lead only into text, which may be JSON; numbers, addresses and links
 * contain nothing (D75).
 */
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

/** Returns true if a list may have the column. While no run has shown the columns, any may exist. */
function hasColumn({ columns = [] }: OutputDescriptor, token: OutputToken, steps: Steps): boolean {
  const [key, ...further] = typeof steps[0] === 'number' ? steps.slice(1) : steps
  if (columns.length === 0 || key === undefined) return true
  if (token.kind === 'column' && columns.some(({ name }) => name === token.column)) return true
  const column = columns.find(({ name }) => name === key)
  return column !== undefined && (further.length === 0 || !PLAIN_TYPES.has(column.type))
}

const PLAIN_TYPES: ReadonlySet<OutputType> = new Set<OutputType>(['string', 'url', 'email', 'number', 'date'])
