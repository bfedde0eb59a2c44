import { parseLossless } from '../lib/json/lossless-json.ts'
import type { Definition } from './definition.ts'
import type { TokenValue, Lookup, Token } from './references.ts'
import { findInputPath, openText, pathOf, readOutput, readPath, type Steps } from './value-path.ts'

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
  unreadAmong(tokens: readonly Token[]): readonly { action: string; storedBytes: number }[]
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
  knownOutputs: (actionId: string, name: string, instanceId: string) => boolean,
  env: ReadonlyMap<string, string>,
): RowScope {
  const data = parseLossless(row.data) as Record<string, unknown>
  const { columns, templates, columnPaths } = namesIn(definition)
  // Several tokens may lead into one text, which is read once.
  let opened: Map<string, unknown> | undefined
  const open = (text: string): unknown => {
    opened ??= new Map()
    if (!opened.has(text)) opened.set(text, openText(text))
    return opened.get(text)
  }
  const results = row.cells === null ? new Map<string, Result>() : readResults(row.cells)
  const hasUnread =
    row.cells !== null && [...results.values()].some(({ leftBytes }) => leftBytes !== undefined)

  function outputOf(action: string, name: string): TokenValue {
    const template = templates.get(action)
    if (template === undefined) return { found: false }
    const result = results.get(action)
    if (result?.status !== 'complete' || result.outputs === null) {
      return knownOutputs(template, name, action) ? { found: true, value: '' } : { found: false }
    }
    if (Object.hasOwn(result.outputs, name)) return { found: true, value: result.outputs[name] ?? '' }
    return knownOutputs(template, name, action) ? { found: true, value: '' } : { found: false }
  }

  return {
    lookup(token) {
      switch (token.kind) {
        case 'input': {
          const column = columns.get(token.name)
          if (column !== undefined) return { found: true, value: data[column] ?? '' }
          const path = columnPaths(token)
          return path === null
            ? { found: false }
            : { found: true, value: readPath(data[path.column], path.steps, open) ?? '' }
        }
        case 'output':
        case 'column': {
          const whole = outputOf(token.action, pathOf(token).head)
          return whole.found ? { found: true, value: readOutput(whole.value, token, open) ?? '' } : whole
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
    unreadAmong(tokens) {
      if (!hasUnread) return NOTHING
      return actionsAmong(tokens).flatMap((action) => {
        const storedBytes = results.get(action)?.leftBytes
        return storedBytes === undefined ? [] : [{ action, storedBytes }]
      })
    },
    lend(texts) {
      const left = [...texts].flatMap(([action, text]) => {
        const result = results.get(action)
        if (result === undefined || text === null) return []
        results.set(action, { status: result.status, outputs: parseLossless(text) as Outputs })
        return [[action, result] as const]
      })
      return () => {
        for (const [action, result] of left) results.set(action, result)
        opened?.clear()
      }
    },
  }
}

const NOTHING: readonly never[] = []

function readResults(cells: string): Map<string, Result> {
  const stored = parseLossless(cells) as Record<string, [string, Outputs, number?]>
  return new Map(
    Object.entries(stored).map(([action, [status, outputs, leftBytes]]) => [
      action,
      { status, outputs, leftBytes },
    ]),
  )
}

function actionsAmong(tokens: readonly Token[]): string[] {
  return [...new Set(tokens.flatMap((token) => ('action' in token ? [token.action] : [])))]
}

type InputToken = Extract<Token, { kind: 'input' }>
type ColumnPath = { column: number; steps: Steps }
type Names = {
  columns: ReadonlyMap<string, number>
  templates: ReadonlyMap<string, string>
  columnPaths: (token: InputToken) => ColumnPath | null
}
const known = new WeakMap<Definition, Names>()

/** Definitions are shared by their rows, and so is what follows from them. */
function namesIn(definition: Definition): Names {
  const names = known.get(definition) ?? readNames(definition)
  known.set(definition, names)
  return names
}

function readNames({ inputs, actions }: Definition): Names {
  const columns = new Map(inputs.map((input) => [input.name, input.column]))
  const paths = new WeakMap<InputToken, { path: ColumnPath | null }>()
  const findPath = (token: InputToken): ColumnPath | null => {
    const found = findInputPath(token.name, (name) => columns.has(name))
    const column = found === null ? undefined : columns.get(found.head)
    return found === null || column === undefined ? null : { column, steps: found.steps }
  }
  return {
    columns,
    templates: new Map(actions.map((action) => [action.id, action.action_id])),
    columnPaths: (token) => {
      const entry = paths.get(token) ?? { path: findPath(token) }
      paths.set(token, entry)
      return entry.path
    },
  }
}
