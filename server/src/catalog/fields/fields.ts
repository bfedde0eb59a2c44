import type { FieldKind } from '#contract/actions.ts'
import { isDecimal } from '#contract/decimal.ts'
import { isObject } from '../../lib/json/object.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import { inspectEmail, inspectUrl } from './address-inspection.ts'
import { columns } from './columns-field.ts'
import { conditions, targetConditions } from './conditions-field.ts'
import {
  type Checked,
  describeField,
  type Field,
  FieldProblem,
  type FieldTexts,
  hasToken,
  refuse,
  type Scope,
} from './field.ts'
import { outputFormat } from './output-format.ts'
import { prompt } from './prompt.ts'
import { waterfall, WATERFALL_ORDERS } from './waterfall-field.ts'

type Given<Required extends boolean> = FieldTexts & { required?: Required }
type Maybe<Value, Required extends boolean> = Required extends true ? Value : Value | undefined

function base<Required extends boolean>(type: string, kind: FieldKind, options: Given<Required>) {
  return { type, required: options.required ?? false, ...describeField(options, kind) }
}

const resolveText = (configured: ConfiguredValue, scope: Scope): unknown =>
  typeof configured === 'string' ? scope.text(configured) : configured

function readText<Required extends boolean>(resolved: unknown): Maybe<string, Required> {
  const text = typeof resolved === 'string' && resolved !== '' ? resolved : undefined
  return text as Maybe<string, Required>
}

function checkText(raw: unknown, path: string): Checked {
  return typeof raw === 'string' ? { kind: 'save', value: raw } : refuse(path, 'must be a string')
}

type TextType = 'string' | 'url' | 'email' | 'promptField'

const KINDS: Readonly<Record<TextType, FieldKind>> = {
  string: 'text',
  url: 'url',
  email: 'text',
  promptField: 'prompt',
}

/** Defines a field for literal text, tokens or a mix. Callers see `type`. An `absolute` address has a scheme. */
function text<const Required extends boolean = false>(
  options: Given<Required> & { type?: TextType; absolute?: true },
): Field<Maybe<string, Required>> {
  const { type = 'string', absolute = false } = options
  return {
    ...base(type, KINDS[type], options),
    inspect(configured) {
      if (typeof configured !== 'string') return null
      if (type === 'url') return inspectUrl(configured, absolute)
      return type === 'email' ? inspectEmail(configured) : null
    },
    check: checkText,
    resolve: resolveText,
    read: readText<Required>,
  }
}

/** Defines a field for a token (or JSON text) whose value is used unchanged: a list, an object. */
function value(options: Given<boolean> & { type?: string }): Field {
  return {
    ...base(options.type ?? 'string', 'column', options),
    check: checkText,
    resolve: (configured, scope) => (typeof configured === 'string' ? scope.value(configured) : configured),
    read: (resolved) => resolved,
  }
}

/** Defines a number field. Numbers are sent as quoted text; a raw JSON number is dropped with a warning (D32). */
function number<const Required extends boolean = false>(
  options: Given<Required> & { min?: number; max?: number; whole?: boolean; default?: number },
): Field<Maybe<number, Required>> {
  const { min = -Infinity, max = Infinity, whole = false } = options
  const fault = (text: string): string | null => {
    const parsed = isDecimal(text.trim()) ? Number(text) : Number.NaN
    if (Number.isNaN(parsed)) return 'must be a number, as text'
    if (whole && !Number.isInteger(parsed)) return 'must be a whole number, as text'
    if (parsed >= min && parsed <= max) return null
    if (max === Infinity) return `must be at least ${min}`
    return min === -Infinity ? `must be at most ${max}` : `must be between ${min} and ${max}`
  }
  return {
    ...base('number', 'number', options),
    check(raw, path) {
      if (typeof raw === 'number') {
        return {
          kind: 'drop',
          code: 'unknown_field',
          message: 'numbers are sent as quoted text; the value was ignored',
        }
      }
      if (typeof raw !== 'string') return refuse(path, 'must be a number, as text')
      const wrong = raw === '' || hasToken(raw) ? null : fault(raw)
      return wrong === null ? { kind: 'save', value: raw } : refuse(path, wrong)
    },
    resolve: resolveText,
    read(resolved) {
      const given = readText(resolved)
      if (given === undefined) return options.default as Maybe<number, Required>
      const wrong = fault(given)
      if (wrong !== null) throw new FieldProblem(`${wrong}; it was "${given.slice(0, 100)}"`)
      return Number(given)
    },
  }
}

/** Defines a field for true or false. The text "true" is dropped with a warning (D32). */
function toggle(options: FieldTexts & { default?: boolean }): Field<boolean> {
  return {
    ...base('boolean', 'boolean', options),
    check(raw, path) {
      if (typeof raw === 'boolean') return { kind: 'save', value: raw }
      if (typeof raw === 'string') {
        return {
          kind: 'drop',
          code: 'unknown_field',
          message: 'takes true or false, not text; the value was ignored',
        }
      }
      return refuse(path, 'must be true or false')
    },
    resolve: (configured) => configured,
    read: (resolved) => (typeof resolved === 'boolean' ? resolved : (options.default ?? false)),
  }
}

/** Returns the label of a fixed word: `Mark as duplicate` for `mark_as_duplicate`. Words such as GET stay. */
function printWord(word: string): string {
  const text = word.replaceAll('_', ' ')
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Defines a field for one of a few fixed words. A token may stand in its place. */
function choice<const Word extends string, const Required extends boolean = false>(
  words: readonly Word[],
  options: Given<Required> & { default?: Word; type?: string; labels?: Partial<Record<Word, string>> },
): Field<Word | (Required extends true ? never : undefined)> {
  const isWord = (text: string): text is Word => words.some((word) => word === text)
  const wrong = `must be one of: ${words.join(', ')}`
  return {
    ...base(options.type ?? 'string', 'choice', options),
    options: {
      fixed: words.map((word) => ({ value: word, label: options.labels?.[word] ?? printWord(word) })),
    },
    check(raw, path) {
      if (typeof raw !== 'string') return refuse(path, wrong)
      return raw === '' || hasToken(raw) || isWord(raw) ? { kind: 'save', value: raw } : refuse(path, wrong)
    },
    resolve: resolveText,
    read(resolved) {
      const given = readText(resolved) ?? options.default
      if (given !== undefined && !isWord(given))
        throw new FieldProblem(`${wrong}; it was "${given.slice(0, 100)}"`)
      return given as Word
    },
  }
}

/**
 * Defines a dropdown with options from elsewhere. `from` names their source, `needs` the parent fields in the context.
 */
function dropdown<const Required extends boolean = false>(
  options: Given<Required> & { from: string; needs?: string[] },
): Field<Maybe<string, Required>> {
  const { from, needs } = options
  const kind = from === 'models' ? 'model' : from === 'sheets' ? 'sheet' : 'choice'
  return {
    ...text<Required>({ kind, ...options }),
    options: { from, ...(needs === undefined ? {} : { needs }) },
  }
}

/** Defines the field for the connection, by name, that an action of one provider uses. */
function connection(
  options: Partial<FieldTexts> & { provider: NonNullable<Field['connects']> },
): Field<string | undefined> {
  const {
    provider: { id, name, otherwise },
    ...texts
  } = options
  return {
    ...text({
      label: 'Connection',
      help: `The ${name} account to use. Leave empty for your only connection.`,
      details: 'Takes the name of a connection.',
      kind: 'connection',
      ...texts,
    }),
    connects: { id, name, ...(otherwise === undefined ? {} : { otherwise }) },
  }
}

/** One pair of a jsonArray. Further text properties that a caller sends are kept. */
export type Pair = { name: string; value: string; label: string } & Record<string, unknown>

/**
 * Defines a field for a jsonArray of `{name, value}` items. Tokens in any text property are expanded. `label` defaults
 * to the name.
 */
function pairs<const Required extends boolean = false>(options: Given<Required>): Field<Pair[]> {
  return {
    ...base('jsonArray', 'pairs', options),
    keepsNumbers: true,
    check(raw, path) {
      const items: unknown = isObject(raw)
        ? Object.entries(raw).map(([name, value]) => ({ name, value }))
        : raw
      if (!Array.isArray(items))
        return refuse(path, `must be a list of ${PAIR}, or an object of names and values`)
      const errors = items.flatMap((item: unknown, n) => {
        const fault = faultOfPair(item)
        return fault === null ? [] : [{ field: `${path}[${n}]`, message: `must be ${PAIR}; ${fault}` }]
      })
      if (errors.length > 0) return { kind: 'refuse', errors }
      return { kind: 'save', value: items.filter(isObject).map(withName).map(withLabel) }
    },
    resolve: (configured, scope) =>
      Array.isArray(configured) ? configured.filter(isObject).map((item) => resolvePair(item, scope)) : [],
    read: (resolved) => (Array.isArray(resolved) ? resolved : []) as Pair[],
  }
}

const PAIR = '{"name": "...", "value": "..."}'

/**
 * Returns why an item is not a pair of a name and a value, or null (D76). An empty item, a line that was not filled in,
 * is accepted.
 */
function faultOfPair(item: unknown): string | null {
  if (!isObject(item)) return 'this is no object'
  const keys = Object.keys(item)
  const name = item['name'] ?? item['key']
  if (keys.length === 0 || typeof name === 'string') return null
  return name === undefined ? `this has only ${keys.slice(0, 5).join(', ')}` : 'its name is not a text'
}

/** Turns `{key, value}`, as other tools write pairs, into `{name, value}`. */
function withName(item: Record<string, unknown>): Record<string, unknown> {
  if (item['name'] !== undefined || item['key'] === undefined) return item
  const { key: name, ...rest } = item
  return { name, ...rest }
}

function withLabel(item: Record<string, unknown>): Record<string, unknown> {
  return typeof item['name'] === 'string' && item['label'] === undefined
    ? { ...item, label: item['name'] }
    : item
}

function resolvePair(item: Record<string, unknown>, scope: Scope): Record<string, unknown> {
  const entries = Object.entries(item).map(([key, part]) => {
    if (typeof part !== 'string') return [key, part]
    return [key, key === 'value' ? scope.value(part) : scope.text(part)]
  })
  return Object.fromEntries(entries)
}

/** Defines a field for a list of texts: names, columns, tokens. */
function texts(options: Given<boolean> & { type?: string }): Field<string[]> {
  return {
    ...base(options.type ?? 'jsonArray', 'list', options),
    check(raw, path) {
      const list = typeof raw === 'string' ? [raw] : raw
      if (!Array.isArray(list)) return refuse(path, 'must be an array of strings')
      const errors = list.flatMap((item: unknown, n) =>
        typeof item === 'string' ? [] : [{ field: `${path}[${n}]`, message: 'must be a string' }],
      )
      return errors.length > 0 ? { kind: 'refuse', errors } : { kind: 'save', value: list as string[] }
    },
    resolve: (configured, scope) =>
      Array.isArray(configured)
        ? configured.map((item) => (typeof item === 'string' ? scope.text(item) : item))
        : [],
    read: (resolved) => (Array.isArray(resolved) ? resolved.filter((item) => typeof item === 'string') : []),
  }
}

/** Defines a field for a list whose items are used unchanged. A token gives its value. */
function values<const Required extends boolean = false>(options: Given<Required>): Field<unknown[]> {
  return {
    ...base('jsonArray', 'list', options),
    keepsNumbers: true,
    check(raw, path) {
      const list: unknown = typeof raw === 'string' ? [raw] : raw
      return Array.isArray(list)
        ? { kind: 'save', value: list }
        : refuse(path, 'must be a token or an array of tokens')
    },
    resolve: (configured, scope) =>
      Array.isArray(configured)
        ? configured.map((item: unknown) => (typeof item === 'string' ? scope.value(item) : item))
        : [],
    read: (resolved) => (Array.isArray(resolved) ? resolved : []),
  }
}

/** The field that chooses the order in which a waterfall calls its providers. */
const waterfallOrder = choice(WATERFALL_ORDERS, {
  default: 'as_listed',
  labels: { as_listed: 'In this order', cheapest_per_find: 'Cheapest per result' },
  label: 'Provider order',
  help: 'In this order, or the cheapest per result first.',
  details:
    '`as_listed` (default) keeps the order of the list. `cheapest_per_find` sorts by what each result has cost in the last 30 days, and says so in the provenance.',
  advanced: true,
})

export const field = {
  text,
  prompt,
  value,
  number,
  toggle,
  choice,
  dropdown,
  connection,
  pairs,
  texts,
  values,
  columns,
  conditions,
  targetConditions,
  waterfall,
  waterfallOrder,
  outputFormat,
}
