import { createHash } from 'node:crypto'
import type { FieldError } from '#contract/errors.ts'
import { type EntityKind, IdentifierKind } from '#contract/records.ts'
import { operatorsFor } from '../../catalog/chain/condition-operators.ts'
import type { ConditionLeaf } from '../../catalog/chain/condition-shape.ts'
import type { Db } from '../../database/connection/db.ts'
import { validationError } from '../../lib/errors.ts'
import { makeStorable } from '../../lib/json/storable.ts'
import { didYouMean } from '../../lib/nearest-name.ts'
import { IDENTIFIED_BY, normaliseIdentifier } from '../identifiers.ts'
import { listFieldTypes } from '../store/field-types.ts'
import { type Condition, type Filter, type Group, otherEnd, parseFilter } from './filter.ts'

/** The names of field types in conditions. A `mixed` field has every operator. */
const CONDITION_TYPES: Record<string, string> = {
  text: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  json: 'json',
}

const MAX_NAMED = 30

/**
 * Returns the filter as it is stored, or an error with all faults, such as an operator that a field does not support.
 */
export async function checkFilter(db: Db, orgId: string, kind: EntityKind, raw: unknown): Promise<Filter> {
  // Values are normalised like those of records, so that stored values match.
  const parsed = parseFilter(makeStorable(raw, () => undefined))
  if (!parsed.ok) throw validationError(parsed.errors)
  const known = await readTypes(db, orgId)
  const errors: FieldError[] = []
  const check: CheckField = (leaf, of, place) => {
    const identifierKind = findIdentifierKind(of, leaf.variable)
    if (identifierKind !== undefined) {
      refuseOperator(leaf, 'string', place, errors)
      return { ...leaf, values: spellValues(leaf, of, identifierKind) }
    }
    const type = known.get(of)?.get(leaf.variable)
    if (type !== undefined) refuseOperator(leaf, CONDITION_TYPES[type], place, errors)
    return leaf
  }
  const checked = checkGroups(parsed.value, kind, 'filter', check)
  if (errors.length > 0) throw validationError(errors)
  return checked
}

/** Lists fields of a filter that no entity has yet. They may come with the next ingest, or be misspelt. */
export async function listUnknownFields(
  db: Db,
  orgId: string,
  kind: EntityKind,
  filter: Filter,
): Promise<FieldError[]> {
  const known = await readTypes(db, orgId)
  const unknown: FieldError[] = []
  checkGroups(filter, kind, 'filter', (leaf, of, place) => {
    const names = [...(known.get(of)?.keys() ?? [])]
    if (findIdentifierKind(of, leaf.variable) === undefined && !names.includes(leaf.variable)) {
      unknown.push({ field: `${place}.variable`, message: describeUnknownField(of, leaf.variable, names) })
    }
    return leaf
  })
  return unknown
}

/** Lists what a filter over this kind can use: identifiers, then fields, each with its operators. */
export async function listFilterFields(
  db: Db,
  orgId: string,
  kind: EntityKind,
): Promise<{ name: string; type: string; operators: string[] }[]> {
  const known = (await readTypes(db, orgId)).get(kind) ?? new Map<string, string>()
  const identifiers = IDENTIFIED_BY[kind].map((name) => ({
    name,
    type: 'identifier',
    operators: [...operatorsFor('string')],
  }))
  const fields = [...known].map(([name, type]) => ({
    name,
    type,
    operators: [...operatorsFor(CONDITION_TYPES[type])],
  }))
  return [...identifiers, ...fields]
}

/** Returns the types of fields by kind and name. */
async function readTypes(db: Db, orgId: string): Promise<Map<EntityKind, Map<string, string>>> {
  const types = new Map<EntityKind, Map<string, string>>()
  for (const { kind, field, type } of await listFieldTypes(db, orgId)) {
    types.set(kind, (types.get(kind) ?? new Map<string, string>()).set(field, type))
  }
  return types
}

type CheckField = (leaf: ConditionLeaf, kind: EntityKind, place: string) => ConditionLeaf

function checkGroups(groups: Filter, kind: EntityKind, path: string, check: CheckField): Filter {
  return groups.map((group, outer) => ({
    ...group,
    conditions: group.conditions.map((condition, inner): Condition => {
      const place = `${path}[${outer}].conditions[${inner}]`
      if ('variable' in condition) return check(condition, kind, place)
      if (!('relationship' in condition) || condition.where === undefined) return condition
      const other = otherEnd(condition).kind
      return { ...condition, where: checkWhere(condition.where, other, `${place}.where`, check) }
    }),
  }))
}

/** Checks the groups of a `where`, which contain no further relationships. */
function checkWhere<Plain extends Condition>(
  groups: Group<Plain>[],
  kind: EntityKind,
  path: string,
  check: CheckField,
): Group<Plain>[] {
  return groups.map((group, outer) => ({
    ...group,
    conditions: group.conditions.map((condition, inner) =>
      'variable' in condition
        ? { ...condition, ...check(condition, kind, `${path}[${outer}].conditions[${inner}]`) }
        : condition,
    ),
  }))
}

/** Returns the kind of identifier with this name, if entities of this kind have it. */
export function findIdentifierKind(kind: EntityKind, variable: string): IdentifierKind | undefined {
  const named = IdentifierKind.safeParse(variable)
  return named.success && IDENTIFIED_BY[kind].includes(named.data) ? named.data : undefined
}

/** Normalises complete identifiers. Parts of identifiers stay unchanged. */
function spellValues({ operator, values = [] }: ConditionLeaf, kind: EntityKind, of: IdentifierKind) {
  if (operator !== 'is' && operator !== 'is not') return values
  return values.map((value) => {
    const read = normaliseIdentifier(kind, of, value)
    return 'identifier' in read ? read.identifier.identifier : value
  })
}

function refuseOperator(
  { operator }: ConditionLeaf,
  type: string | undefined,
  place: string,
  errors: FieldError[],
): void {
  const allowed = operatorsFor(type)
  if (allowed.includes(operator)) return
  const message = `must be one of: ${allowed.join(', ')} (the field is of type ${type})`
  errors.push({ field: `${place}.operator`, message })
}

function describeUnknownField(kind: EntityKind, field: string, names: string[]): string {
  const all = [...IDENTIFIED_BY[kind], ...names]
  const listed = all.slice(0, MAX_NAMED).join(', ')
  const more = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : ''
  const hint = didYouMean(field, all) || `; there are: ${listed}${more}`
  return `no ${kind} has a field ${JSON.stringify(field)} yet${hint}`
}

/** Returns a hash that tells whether two filters are equal. Readers of the change feed compare it too. */
export function hashFilter(kind: EntityKind, filter: Filter): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, sortKeys(filter)]))
    .digest('hex')
}

/** Sorts object keys: their order has no meaning, and PostgreSQL does not keep it. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sortKeys(v)]))
}
