import { isObject } from '../../lib/json/object.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import type { InputRenames } from '../chain/input-renames.ts'
import { parseTemplate, soleToken, textOf, type Token } from '../chain/references.ts'
import { printPath, readItem } from '../chain/value-path.ts'
import { readList } from '../values/json-text.ts'
import { type Field, FieldProblem, type FieldTexts, hasToken, type Scope } from './field.ts'
import { field } from './fields.ts'

/** The list from which rows are made, one for each item. `list` is its name, as tokens of its columns write it. */
export type ExpandedList = { list: string | null; items: unknown[] }

/** The item that a row is made for, and the name of its list. */
export type ExpandedItem = { list: string | null; item: unknown }

export function expandedList(options: FieldTexts): Field<ExpandedList | undefined> {
  return {
    ...field.value({ ...options, type: 'structured_array' }),
    resolve(configured, scope) {
      const template = typeof configured === 'string' ? configured : ''
      const token = soleToken(parseTemplate(template))
      return {
        list: token !== null && 'action' in token ? printListName(token) : null,
        items: scope.value(template),
      }
    },
    read(resolved) {
      if (!isObject(resolved)) return undefined
      const list = typeof resolved['list'] === 'string' ? resolved['list'] : null
      const { items } = resolved
      if (items === '' || items === null) return { list, items: [] }
      const read = readList(items)
      if (read === null) throw new FieldProblem('must be a list')
      return { list, items: read }
    },
  }
}

/** The values by target column, made once for the row or once for each item of a list. */
export type ItemMapping = { rowFor(expanded?: ExpandedItem): Record<string, unknown> }

/**
 * Defines a field for pairs whose values may hold columns of an expanded list. Tokens are expanded as everywhere, but a
 * column keeps its name, since only `rowFor` knows whether its list is being expanded and which item is meant.
 */
export function itemMapping({
  sheet,
  ...options
}: FieldTexts & {
  /** The field that names the sheet whose inputs are mapped. */
  sheet: string
  required?: boolean
}): Field<ItemMapping> {
  return {
    ...field.pairs(options),
    namesInputs: { of: sheet, list: listNames, rename: renameNames },
    resolve: (configured, scope) =>
      Array.isArray(configured)
        ? configured.filter(isObject).map(({ name, value }) => ({
            name: typeof name === 'string' ? scope.text(name).trim() : '',
            parts: resolveParts(value, scope),
          }))
        : [],
    read: (resolved) => ({ rowFor: (expanded) => buildRow(resolved as Resolved[], expanded) }),
  }
}

function listNames(configured: unknown): { place: string; name: string }[] {
  return (Array.isArray(configured) ? configured : []).flatMap((pair: unknown, place) => {
    const name = isObject(pair) && typeof pair['name'] === 'string' ? pair['name'].trim() : ''
    return name === '' || hasToken(name) ? [] : [{ place: `[${place}].name`, name }]
  })
}

function renameNames(configured: ConfiguredValue, { names }: InputRenames): ConfiguredValue {
  if (!Array.isArray(configured)) return configured
  return configured.map((pair: unknown) => {
    const name =
      isObject(pair) && typeof pair['name'] === 'string' ? names.get(pair['name'].trim()) : undefined
    if (!isObject(pair) || name === undefined) return pair
    // Items without a label of their own carry their name as label.
    return { ...pair, name, ...(pair['label'] === pair['name'] ? { label: name } : {}) }
  })
}

type Resolved = { name: string; parts: ResolvedPart[] }
type ResolvedPart = { value: unknown } | { name: string; whole: unknown }

function resolveParts(value: unknown, scope: Scope): ResolvedPart[] {
  if (typeof value !== 'string') return [{ value }]
  return parseTemplate(value).map((part) => {
    if (part.kind === 'text') return { value: part.text }
    const whole = scope.value(part.source)
    return part.token.kind === 'column' ? { name: printListName(part.token), whole } : { value: whole }
  })
}

function printListName(token: Extract<Token, { action: string }>): string {
  return `${token.action}.${printPath(token)}`
}

function buildRow(mapping: Resolved[], expanded: ExpandedItem | undefined): Record<string, unknown> {
  const pick = (part: ResolvedPart): unknown => {
    if ('value' in part) return part.value
    const list = `${expanded?.list}.`
    return expanded?.list && part.name.startsWith(list)
      ? (readItem(expanded.item, part.name.slice(list.length)) ?? null)
      : part.whole
  }
  const entries = mapping
    .filter(({ name }) => name !== '')
    .map(({ name, parts }): [string, unknown] => {
      const values = parts.map(pick)
      return [name, values.length === 1 ? values[0] : values.map(textOf).join('')]
    })
  return Object.fromEntries(entries)
}
