import { hash } from 'node:crypto'
import type { ConfiguredValue } from '../chain/definition.ts'
import {
  type Lookup,
  parseTemplate,
  type Resolved,
  resolveTemplate,
  resolveValue,
  type Token,
} from '../chain/references.ts'
import type { Action } from '../define.ts'
import { type Field, FieldProblem, type Fields } from '../fields/field.ts'

type Configured = Readonly<Record<string, ConfiguredValue>>

/** Configured inputs with every token expanded. The cache compares them, and `readInputs` reads them. */
export type ResolvedInputs = { resolved: Record<string, unknown>; missing: readonly Token[] }

/** Resolves the templates of fields. It is a class because one is made for every cell. */
class TemplateScope {
  missing: readonly Token[] = []
  readonly #lookup: Lookup

  constructor(lookup: Lookup) {
    this.#lookup = lookup
  }

  text(template: string): string {
    return this.#note(resolveTemplate(parseTemplate(template), this.#lookup))
  }

  value(template: string): unknown {
    return this.#note(resolveValue(parseTemplate(template), this.#lookup))
  }

  #note<Value>({ value, missing }: Resolved<Value>): Value {
    if (missing.length > 0) this.missing = [...this.missing, ...missing]
    return value
  }
}

export function resolveInputs(action: Action, configured: Configured, lookup: Lookup): ResolvedInputs {
  const scope = new TemplateScope(lookup)
  const resolved: Record<string, unknown> = {}
  for (const [name, field] of fieldsOf(action).all) {
    const value = configured[name]
    if (value !== undefined && !isCleared(value)) resolved[name] = field.resolve(value, scope)
  }
  return { resolved, missing: scope.missing }
}

type NamedFields = { all: readonly (readonly [string, Field])[]; required: readonly string[] }
const namesByFields = new WeakMap<Fields, NamedFields>()

/** Returns the fields of an action, listed once for all its cells, and those that a run requires. */
function fieldsOf({ inputs }: Action): NamedFields {
  const listed = namesByFields.get(inputs) ?? listFields(inputs)
  namesByFields.set(inputs, listed)
  return listed
}

function listFields(inputs: Fields): NamedFields {
  const all = Object.entries(inputs)
  const required = all.filter(([, field]) => field.required && field.runsWithout === undefined)
  return { all, required: required.map(([name]) => name) }
}

/** D25: Returns the key that the cache compares, a hash of the resolved inputs as text. */
export function cacheKeyOf(resolved: Record<string, unknown>): string {
  const entries = Object.entries(resolved).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify(entries))
}

/** The typed inputs, or why the action cannot run on a row: a required input is empty, or one cannot be used. */
export type ReadInputs = { ok: true; inputs: Record<string, unknown> } | { ok: false; message: string }

/**
 * Returns the typed values that `run` gets. Inputs that are not configured are read too, because their defaults are
 * values.
 */
export function readInputs(action: Action, resolved: Record<string, unknown>): ReadInputs {
  const empty = listEmpty(action, resolved)
  if (empty !== null) return { ok: false, message: empty }
  const inputs: Record<string, unknown> = {}
  for (const [name, field] of fieldsOf(action).all) {
    try {
      inputs[name] = field.read(resolved[name])
    } catch (problem) {
      if (!(problem instanceof FieldProblem)) throw problem
      return { ok: false, message: `${name}: ${problem.message}` }
    }
  }
  return { ok: true, inputs }
}

const EMPTY = 'required and empty: '
const NEEDED = 'one of these must be set: '

/**
 * Replaces the names of inputs in a message of `readInputs` about empty inputs. Any other message is returned
 * unchanged.
 */
export function renameEmpty(message: string, rename: (input: string) => string): string {
  const start = [EMPTY, NEEDED].find((words) => message.startsWith(words))
  if (start === undefined) return message
  return start + message.slice(start.length).replace(/\w+/g, (word) => (word === 'and' ? word : rename(word)))
}

function listEmpty(action: Action, resolved: Record<string, unknown>): string | null {
  const isEmpty = (name: string) =>
    resolved[name] === undefined || resolved[name] === null || resolved[name] === ''
  const { required } = fieldsOf(action)
  if (required.some(isEmpty)) return `${EMPTY}${required.filter(isEmpty).join(', ')}`
  if (action.needs.length === 0 || action.needs.some((set) => !set.some(isEmpty))) return null
  return `${NEEDED}${action.needs.map((set) => set.join(' and ')).join('; ')}`
}

/** Returns true for a value that counts as never set. */
function isCleared(value: ConfiguredValue): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}
