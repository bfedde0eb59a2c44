import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { EntityKind } from '#contract/records.ts'
import type { InputColumn } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { validationError } from '../../lib/errors.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { IDENTIFIED_BY } from '../identifiers.ts'
import { listFieldTypes } from '../store/field-types.ts'
import { type Identifier, listIdentifiers } from '../store/identifiers.ts'
import type { MappedInput } from './store/destinations.ts'
import type { Member } from './store/waiting.ts'

const PREFIX = 'input.'
const MAX_NAMED = 20

/** Parses a mapping and reports all its errors. Keys are references as List Inputs shows them, without their braces. */
export function readMapping(given: Record<string, string>, inputs: readonly InputColumn[]): MappedInput[] {
  const entries = Object.entries(given)
  const errors: FieldError[] =
    entries.length === 0 ? [{ field: 'field_mapping', message: 'must map at least one input' }] : []
  const references = new Map(inputs.map(({ name }) => [`${PREFIX}${name}`, name]))
  const mapping = entries.flatMap(([key, field]) => {
    const input = references.get(key)
    if (input !== undefined) return [{ input, field }]
    errors.push({ field: `field_mapping.${key}`, message: describeUnknownInput(key, [...references.keys()]) })
    return []
  })
  if (errors.length > 0) throw validationError(errors)
  return mapping
}

function describeUnknownInput(key: string, references: readonly string[]): string {
  const there = `the workflow has: ${references.slice(0, MAX_NAMED).join(', ')}`
  if (/[{}]/.test(key)) return `must be a reference without braces; ${there}`
  return `matches no input; references are case-sensitive; ${there}`
}

/** Returns warnings for fields that no entity has yet. They may still come, so they are not errors. */
export async function warnOfUnknownFields(
  db: Db,
  orgId: string,
  kind: EntityKind,
  mapping: readonly MappedInput[],
): Promise<Warning[]> {
  const types = await listFieldTypes(db, orgId)
  const fields = types.filter((type) => type.kind === kind).map(({ field }) => field)
  const known: string[] = [...IDENTIFIED_BY[kind], ...fields]
  return mapping
    .filter(({ field }) => !known.includes(field))
    .map(({ input, field }) => ({
      field: `field_mapping.${PREFIX}${input}`,
      code: 'unknown_field',
      message: `no ${kind} has the field "${field}" so far; there are: ${known.slice(0, MAX_NAMED).join(', ')}`,
    }))
}

/** Builds the rows of members by input name. Missing values are left out and stay empty. */
export async function readRows(
  db: Db,
  orgId: string,
  { kind, mapping }: { kind: EntityKind; mapping: readonly MappedInput[] },
  members: readonly Member[],
): Promise<Record<string, unknown>[]> {
  const named = new Set<string>(IDENTIFIED_BY[kind])
  const ids = members.map(({ entity_id }) => entity_id)
  const identifiers = mapping.some(({ field }) => named.has(field))
    ? await listIdentifiers(db, orgId, ids)
    : new Map<string, Identifier[]>()
  return members.map(({ entity_id, fields }) => {
    const values = parseLossless(fields)
    if (!isObject(values)) throw new Error('the fields of an entity are not an object')
    const own = identifiers.get(entity_id) ?? []
    // As in filters, the name of a kind of identifier means the identifier: the first one if there are several.
    const valueOf = (field: string): unknown =>
      own.find(({ identifierKind }) => identifierKind === field)?.identifier ??
      (Object.hasOwn(values, field) ? values[field] : undefined)
    return Object.fromEntries(mapping.map(({ input, field }) => [input, valueOf(field)]))
  })
}
