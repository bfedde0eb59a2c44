import { EntityKind, IdentifierKind, RecordSource, ValueType } from '#contract/records.ts'
import { isObject } from '../../lib/json/object.ts'
import { textOf } from '../chain/references.ts'
import { type Checked, type Field, FieldProblem, type FieldTexts, hasToken, refuse } from '../fields/field.ts'
import { field } from '../fields/fields.ts'
import type { GivenPair } from './access.ts'

const KINDS = EntityKind.options

export const entityKind = (texts: FieldTexts) => field.choice(KINDS, { required: true, ...texts })

const source = field.dropdown({
  required: true,
  from: 'record sources',
  label: 'Source',
  help: 'Where the values come from, such as hubspot.',
  placeholder: 'hubspot',
  details: 'Letters, digits, and _ . - inside.',
})

/** The field for the name of a source, limited to names that declared source orders can hold. */
export const recordSource: Field<string> = {
  ...source,
  check(raw, path) {
    const fault = typeof raw === 'string' && raw !== '' && !hasToken(raw) ? faultOfSource(raw) : null
    return fault === null ? source.check(raw, path) : refuse(path, fault)
  },
  read(resolved) {
    const parsed = RecordSource.safeParse(source.read(resolved))
    if (parsed.success) return parsed.data
    throw new FieldProblem(`${parsed.error.issues[0]?.message}; it was "${textOf(resolved).slice(0, 100)}"`)
  },
}

const faultOfSource = (text: string) => RecordSource.safeParse(text).error?.issues[0]?.message ?? null

/** Checks that the literal word of each item is one of these. A word with a token is known only with a row. */
function checkWords(
  value: unknown,
  path: string,
  property: string,
  words: readonly string[],
): Checked | null {
  for (const [place, item] of (Array.isArray(value) ? value : []).entries()) {
    const word: unknown = isObject(item) ? item[property] : undefined
    if (word === undefined || word === null) continue
    if (typeof word === 'string' && (hasToken(word) || words.includes(word.trim()))) continue
    return refuse(`${path}[${place}].${property}`, `must be one of: ${words.join(', ')}`)
  }
  return null
}

/** Reads items as `{name, value}`, `{key, value}` or `{kind, value}`, or one object of names and values (D76). */
function toItems(raw: unknown): unknown {
  if (isObject(raw)) return Object.entries(raw).map(([name, value]) => ({ name, value }))
  if (!Array.isArray(raw)) return raw
  return raw.map((item: unknown) => {
    if (!isObject(item) || item['name'] !== undefined) return item
    const { key, kind, ...rest } = item
    const name = key ?? kind
    return name === undefined ? item : { name, ...rest }
  })
}

type Named = FieldTexts & { required?: boolean; options?: NonNullable<Field['options']> }

function namedValues(
  { options, ...given }: Named,
  checkItems: (value: unknown, path: string) => Checked | null,
): Field<GivenPair[]> {
  const pairs = field.pairs(given)
  return {
    ...pairs,
    ...(options === undefined ? {} : { options }),
    check(raw, path) {
      const items = toItems(raw)
      if (!Array.isArray(items)) return refuse(path, 'must be an array of {name, value}')
      const nameless = items.findIndex((item: unknown) => !isObject(item) || typeof item['name'] !== 'string')
      if (nameless >= 0) return refuse(`${path}[${nameless}]`, 'must be an object with name and value')
      return checkItems(items, path) ?? pairs.check(items, path)
    },
    read: (resolved) =>
      pairs.read(resolved).map(({ name, value, type }) => {
        const read = ValueType.safeParse(type)
        if (type !== undefined && type !== null && type !== '' && !read.success) {
          throw new FieldProblem(`type must be one of: ${ValueType.options.join(', ')}`)
        }
        const pair = { name: textOf(name).trim(), value }
        return read.success ? { ...pair, type: read.data } : pair
      }),
  }
}

export const identifiers = namedValues(
  {
    required: true,
    label: 'Identifiers',
    help: 'What identifies the record, such as its domain or email.',
    details:
      '{name, value} with domain (companies), email (people, contacts), linkedin_url, or external (source:id).',
  },
  (items, path) => checkWords(items, path, 'name', IdentifierKind.options),
)

/** The field for names and values. A name may come from the dropdown or be new. */
export const fieldValues = (given: Named) =>
  namedValues(
    {
      ...given,
      details: `{name, value}, with type (${ValueType.options.join(', ')}) where a text is to be read as such.`,
    },
    (items, path) => checkWords(items, path, 'type', ['', ...ValueType.options]),
  )

export const fieldsToSet = (kind: EntityKind) =>
  fieldValues({
    options: { from: `record fields of a ${kind}` },
    label: `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)} fields`,
    help: `The fields of the ${kind} to set.`,
  })
