import { createHintsBy, findNearest } from '../../lib/nearest-name.ts'
import type { ActionInstance } from '../chain/definition.ts'
import type { ChainView } from './chain-view.ts'

/** For references that name nothing: `; did you mean {{input.website}}?`, or nothing. */
export function createReferenceHints(
  action: ActionInstance,
  chain: ChainView,
  envKeys: ReadonlySet<string>,
): (source: string) => string {
  return createHintsBy((given) => {
    const text = given
      .slice(0, MAX_LENGTH)
      .replace(/^\{+|\}+$/g, '')
      .trim()
    const found = findReference(text, listSources(action, chain, envKeys))
    // What is named exactly may still lack a brace.
    const isThere = found === text && given.startsWith('{{') && given.endsWith('}}')
    return found === undefined || isThere ? undefined : `{{${found}}}`
  })
}

/** No reference that could be meant is longer, and what a caller wrote may be. */
const MAX_LENGTH = 600
/** As many as are compared anywhere else. */
const MAX_NAMES = 300

/** What is there when the action runs: names by what stands before the dot. */
function listSources(
  action: ActionInstance,
  { definition, links }: ChainView,
  envKeys: ReadonlySet<string>,
): Map<string, string[]> {
  const own = links.get(action.id)?.place ?? Infinity
  const outputs = [...links].flatMap(([id, { place, outputs }]): [string, string[]][] => {
    if (place >= own) return []
    return [
      [
        id,
        outputs.flatMap(({ name, columns = [] }) => [name, ...columns.map((one) => `${name}.${one.name}`)]),
      ],
    ]
  })
  return new Map([['input', definition.inputs.map(({ name }) => name)], ...outputs, ['env', [...envKeys]]])
}

/** First what stands before the dot, then what stands behind it: each as it is, or the nearest there is. */
function findReference(text: string, sources: ReadonlyMap<string, string[]>): string | undefined {
  const dot = text.indexOf('.')
  if (dot < 0) return findByName(text, sources)
  const source = findSource(text.slice(0, dot).trim(), [...sources.keys()])
  const name =
    source === undefined ? undefined : nearestOf(text.slice(dot + 1).trim(), sources.get(source) ?? [])
  return name === undefined ? undefined : `${source}.${name}`
}

/** A name without anything before it: the first that has it, as they stand in the chain. */
function findByName(text: string, sources: ReadonlyMap<string, string[]>): string | undefined {
  const name = nearestOf(text, [...sources.values()].flat())
  const source = [...sources].find(([, names]) => name !== undefined && names.includes(name))
  return source && `${source[0]}.${name}`
}

/** Also by the id of its template, without the number. */
function findSource(given: string, names: readonly string[]): string | undefined {
  const numbered = names.find(
    (name) => name.startsWith(`${given}_`) && /^\d+$/.test(name.slice(given.length + 1)),
  )
  return names.includes(given) ? given : (numbered ?? nearestOf(given, names))
}

function nearestOf(given: string, names: readonly string[]): string | undefined {
  return names.includes(given) ? given : findNearest(given, names.slice(0, MAX_NAMES))
}
