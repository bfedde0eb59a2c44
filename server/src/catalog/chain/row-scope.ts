import { parseLossless } from '../../lib/json/lossless-json.ts'
import { StoredJson } from '../../lib/json/stored-json.ts'
import type { Definition } from './definition.ts'
import type { TokenValue, Lookup, Token } from './references.ts'
import { findInputPath, openText, pathOf, readOutput, readPath, type Steps } from './value-path.ts'

type Outputs = Record<string, unknown> | null
/** The result of a cell. `leftBytes` is the size in the database of outputs that were not loaded. */
type Result = { status: string; outputs: Outputs | StoredJson; leftBytes?: number | undefined }

/** The values of tokens in one row: its inputs, and the outputs of the cells that have results. */
export type RowScope = {
  lookup: Lookup
  /** Returns the names of upstream actions that failed, for the message of a skip. */
  failedAmong(tokens: readonly Token[]): string[]
  /** Returns the status of the cell of an action, if it has a result. */
  statusOf(action: string): string | undefined
  add(action: string, status: string, outputs: Outputs | StoredJson): void
  /** Returns the actions in these tokens whose outputs were not loaded, with their size in the database. */
  unreadAmong(tokens: readonly Token[]): readonly { action: string; storedBytes: number }[]
  /** Provides outputs that were not loaded, until the returned function is called. */
  lend(outputs: ReadonlyMap<string, Record<string, unknown>>): () => void
}

type KnowsOutput = (actionId: string, name: string, instanceId: string) => boolean

/**
 * Creates the scope of a row. A token reads as '' if its source was skipped, failed, has not run or is null. An unknown
 * token is not found, and its cell fails (D33). `knownOutputs` tells if an action can have an output of a name.
 */
export function createRowScope(
  definition: Definition,
  row: { data: string; cells: string | null },
  knownOutputs: KnowsOutput,
  env: ReadonlyMap<string, string>,
): RowScope {
  return new Scope(definition, row, knownOutputs, env)
}

/** A scope. It is a class because there is one for every row in progress. */
class Scope implements RowScope {
  readonly #data: Record<string, unknown>
  readonly #names: Names
  readonly #results: Map<string, Result>
  readonly #hasUnread: boolean
  readonly #knownOutputs: KnowsOutput
  readonly #env: ReadonlyMap<string, string>
  /** Texts that were parsed as JSON. Several tokens may lead into the same text, which is parsed once. */
  #opened: Map<string, unknown> | undefined

  constructor(
    definition: Definition,
    { data, cells }: { data: string; cells: string | null },
    knownOutputs: KnowsOutput,
    env: ReadonlyMap<string, string>,
  ) {
    this.#data = parseLossless(data) as Record<string, unknown>
    this.#names = namesIn(definition)
    this.#results = cells === null ? new Map() : readResults(cells)
    this.#hasUnread =
      cells !== null && [...this.#results.values()].some(({ leftBytes }) => leftBytes !== undefined)
    this.#knownOutputs = knownOutputs
    this.#env = env
  }

  readonly lookup: Lookup = (token) => {
    switch (token.kind) {
      case 'input': {
        const column = this.#names.columns.get(token.name)
        if (column !== undefined) return { found: true, value: this.#data[column] ?? '' }
        const path = this.#names.columnPaths(token)
        if (path === null) return { found: false }
        const value = readPath(this.#data[path.column], path.steps, (text) => this.#open(text))
        return { found: true, value: value ?? '' }
      }
      case 'output':
      case 'column': {
        const whole = this.#outputOf(token.action, pathOf(token).head)
        if (!whole.found) return whole
        return { found: true, value: readOutput(whole.value, token, (text) => this.#open(text)) ?? '' }
      }
      case 'env': {
        const value = this.#env.get(token.key)
        return value === undefined ? { found: false } : { found: true, value }
      }
    }
  }

  failedAmong(tokens: readonly Token[]): string[] {
    return actionsAmong(tokens).filter((name) => {
      const status = this.#results.get(name)?.status
      return status !== undefined && status !== 'complete'
    })
  }

  statusOf(action: string): string | undefined {
    return this.#results.get(action)?.status
  }

  add(action: string, status: string, outputs: Outputs | StoredJson): void {
    this.#results.set(action, { status, outputs })
  }

  unreadAmong(tokens: readonly Token[]): readonly { action: string; storedBytes: number }[] {
    if (!this.#hasUnread) return NOTHING
    return actionsAmong(tokens).flatMap((action) => {
      const storedBytes = this.#results.get(action)?.leftBytes
      return storedBytes === undefined ? [] : [{ action, storedBytes }]
    })
  }

  lend(lent: ReadonlyMap<string, Record<string, unknown>>): () => void {
    const left = [...lent].flatMap(([action, outputs]) => {
      const result = this.#results.get(action)
      if (result === undefined) return []
      this.#results.set(action, { status: result.status, outputs })
      return [[action, result] as const]
    })
    return () => {
      for (const [action, result] of left) this.#results.set(action, result)
      this.#opened?.clear()
    }
  }

  #open(text: string): unknown {
    this.#opened ??= new Map()
    if (!this.#opened.has(text)) this.#opened.set(text, openText(text))
    return this.#opened.get(text)
  }

  #outputOf(action: string, name: string): TokenValue {
    const template = this.#names.templates.get(action)
    if (template === undefined) return { found: false }
    const result = this.#results.get(action)
    const stored = result?.status === 'complete' ? result.outputs : null
    const outputs = stored instanceof StoredJson ? stored.value : stored
    if (outputs !== null && Object.hasOwn(outputs, name)) return { found: true, value: outputs[name] ?? '' }
    return this.#knownOutputs(template, name, action) ? { found: true, value: '' } : { found: false }
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

/** Returns the names in a definition. Rows share their definition, so the names are cached with it. */
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
