import type { Definition } from '../../chain/definition.ts'
import { pickColumn } from '../../chain/list-column.ts'
import type { TokenValue, Lookup, Token } from '../../chain/references.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'

type Outputs = Record<string, unknown> | null
/** `leftBytes`: what outputs that were not read take in the database. */
type Result = { status: string; outputs: Outputs; leftBytes?: number | undefined }

/** What tokens stand for on one row: its input values, and the outputs of the cells that have results. */
export type RowScope = {
  lookup: Lookup
  /** Names of upstream actions that failed, for the words of a skip. */
  failedAmong(tokens: readonly Token[]): string[]
  add(action: string, status: string, outputs: Outputs): void
  /** Actions that these name whose outputs were not read, with what they take in the database. */
  unreadAmong(tokens: readonly Token[]): { action: string; storedBytes: number }[]
  /** Lends outputs that were not read, until the function that it answers is called. */
  lend(texts: ReadonlyMap<string, string | null>): () => void
}

/**
 * D33: a token whose source was skipped, failed, has not run or is null reads as ''; one that names nothing is not found, and
 * its cell is an error. `knownOutputs` answers whether an action can have an output of that name.
 */
export function createRowScope(
  definition: Definition,
  row: { data: string; cells: string | null },
  knownOutputs: (actionId: string, name: string) => boolean,
  env: ReadonlyMap<string, string>,
): RowScope {
  const data = parseLossless(row.data) as Record<string, unknown>
  const { columns, templates } = namesIn(definition)
  const results = new Map<string, Result>()
  const stored =
    row.cells === null ? {} : (parseLossless(row.cells) as Record<string, [string, Outputs, number?]>)
  for (const [action, [status, outputs, leftBytes]] of Object.entries(stored))
    results.set(action, { status, outputs, leftBytes })

  function outputOf(action: string, name: string): TokenValue {
    const template = templates.get(action)
    if (template === undefined) return { found: false }
    const result = results.get(action)
    if (result?.status !== 'complete' || result.outputs === null) {
      return knownOutputs(template, name) ? { found: true, value: '' } : { found: false }
    }
    if (Object.hasOwn(result.outputs, name)) return { found: true, value: result.outputs[name] ?? '' }
    return knownOutputs(template, name) ? { found: true, value: '' } : { found: false }
  }

  return {
    lookup(token) {
      switch (token.kind) {
        case 'input': {
          const column = columns.get(token.name)
          return column === undefined ? { found: false } : { found: true, value: data[column] ?? '' }
        }
        case 'output':
          return outputOf(token.action, token.name)
        case 'column': {
          const list = outputOf(token.action, token.list)
          return list.found ? { found: true, value: pickColumn(list.value, token.column) ?? '' } : list
        }
        case 'env': {
          const value = env.get(token.key)
          return value === undefined ? { found: false } : { found: true, value }
        }
      }
    },
    failedAmong: (tokens) =>
      actionsAmong(tokens).filter((name) => {
        const status = results.get(name)?.status
        return status !== undefined && status !== 'complete'
      }),
    add: (action, status, outputs) => results.set(action, { status, outputs }),
    unreadAmong: (tokens) =>
      actionsAmong(tokens).flatMap((action) => {
        const storedBytes = results.get(action)?.leftBytes
        return storedBytes === undefined ? [] : [{ action, storedBytes }]
      }),
    lend(texts) {
      const left = [...texts].flatMap(([action, text]) => {
        const result = results.get(action)
        if (result === undefined || text === null) return []
        results.set(action, { status: result.status, outputs: parseLossless(text) as Outputs })
        return [[action, result] as const]
      })
      return () => {
        for (const [action, result] of left) results.set(action, result)
      }
    },
  }
}

function actionsAmong(tokens: readonly Token[]): string[] {
  return [...new Set(tokens.flatMap((token) => ('action' in token ? [token.action] : [])))]
}

type Names = { columns: Map<string, number>; templates: Map<string, string> }
const known = new WeakMap<Definition, Names>()

/** Definitions are shared by their rows, and so is what follows from them. */
function namesIn(definition: Definition): Names {
  const names = known.get(definition) ?? {
    columns: new Map(definition.inputs.map((input) => [input.name, input.column])),
    templates: new Map(definition.actions.map((action) => [action.id, action.action_id])),
  }
  known.set(definition, names)
  return names
}
