import { createHintsBy, findNearest } from '../../lib/nearest-name.ts'
import type { ActionInstance } from '../chain/definition.ts'
import type { ChainView } from './chain-view.ts'

/**
 * Creates a function that returns a hint for an unknown reference, `; did you mean {{input.website}}?`, or an empty
 * text.
 */
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
    // An exact name may still lack a brace.
    const isThere = found === text && given.startsWith('{{') && given.endsWith('}}')
    return found === undefined || isThere ? undefined : `{{${found}}}`
  })
}

/** The longest text that is compared. No valid reference is longer, but a caller's text may be. */
const MAX_LENGTH = 600
/** The most names that are compared, as in all other hints. */
const MAX_NAMES = 300

/** Returns the names that exist when the action runs, by the part before the dot. */
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

/** Looks up the part before the dot, then the part after it: each exactly, or else the nearest. */
function findReference(text: string, sources: ReadonlyMap<string, string[]>): string | undefined {
  const dot = text.indexOf('.')
  if (dot < 0) return findByName(text, sources)
  const source = findSource(text.slice(0, dot).trim(), [...sources.keys()])
  const name =
    source === undefined ? undefined : pickNearest(text.slice(dot + 1).trim(), sources.get(source) ?? [])
  return name === undefined ? undefined : `${source}.${name}`
}

/** Looks up a name without a prefix. The first source in the chain that has the name is used. */
function findByName(text: string, sources: ReadonlyMap<string, string[]>): string | undefined {
  const name = pickNearest(text, [...sources.values()].flat())
  const source = [...sources].find(([, names]) => name !== undefined && names.includes(name))
  return source && `${source[0]}.${name}`
}

/** Looks up an action. Its template's id without the number is accepted too. */
function findSource(given: string, names: readonly string[]): string | undefined {
  const numbered = names.find(
    (name) => name.startsWith(`${given}_`) && /^\d+$/.test(name.slice(given.length + 1)),
  )
  return names.includes(given) ? given : (numbered ?? pickNearest(given, names))
}

function pickNearest(given: string, names: readonly string[]): string | undefined {
  return names.includes(given) ? given : findNearest(given, names.slice(0, MAX_NAMES))
}
