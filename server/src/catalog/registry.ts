import { readdir } from 'node:fs/promises'
import { type Action, isAction } from './define.ts'

/** The catalogue of all action templates, by id. */
export type Catalogue = { get(id: string): Action | undefined; list(): Action[] }

export type Definition = { file: string; module: unknown }

/** Loads the folder of definitions. A new action is one file in it and nothing else. */
export async function loadCatalogue(): Promise<Catalogue> {
  const names = (await readdir(new URL('actions/', import.meta.url)))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .sort()
  return createCatalogue(
    await Promise.all(
      names.map(async (name) => ({
        file: `${name}.ts`,
        module: (await import(`./actions/${name}.ts`)) as unknown,
      })),
    ),
  )
}

/** The ids that are reserved: for the first node of every chain and for the fixed paths beside instances (D31). */
const RESERVED = new Set(['input', 'graph', 'env', 'suggestions'])
const ID = /^[a-z][a-z0-9_]*$/

/**
 * Builds the catalogue. Throws if two files define the same action, or if an action's id differs from its file name.
 */
export function createCatalogue(definitions: Definition[]): Catalogue {
  const actions = new Map<string, Action>()
  for (const { file, module } of definitions) {
    const action = readDefault(module)
    if (!isAction(action)) throw new Error(`actions/${file} must export a default made by defineAction`)
    const { id } = action
    if (actions.has(id)) throw new Error(`actions/${file} defines ${id}, which another file defines already`)
    if (file !== `${id}.ts`) throw new Error(`actions/${file} defines ${id}, so its name must be ${id}.ts`)
    if (!ID.test(id) || RESERVED.has(id))
      throw new Error(`actions/${file}: ${id} cannot be the id of an action`)
    const badOutput = Object.keys(action.outputs).find((name) => !ID.test(name))
    if (badOutput !== undefined) throw new Error(`actions/${file}: output ${badOutput} must be snake_case`)
    actions.set(id, action)
  }
  return { get: (id) => actions.get(id), list: () => [...actions.values()] }
}

function readDefault(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
}
