import type { FieldError } from '#contract/errors.ts'
import { type EntityKind, IdentifierKind } from '#contract/records.ts'
import { IDENTIFIED_BY, spellIdentifier } from '#server/records/identifiers.ts'
import { type CheckedRecord, checkRecord } from '#server/records/record.ts'
import { readValue, type ValueType } from '#server/records/value-types.ts'

export type Mapping = {
  kind: EntityKind
  source: string
  /** The columns that hold identifiers, by name. Null for all columns named after a kind of identifier. */
  identifiers: Map<string, IdentifierKind> | null
  types: Map<string, ValueType>
  /** The time of records that do not have their own. */
  at: Date
}

/** Converts a record of a file into the form of the record store: a complete record, or column by column. */
export function mapRecord(
  content: Record<string, unknown>,
  mapping: Mapping,
): { record: CheckedRecord } | { faults: FieldError[] } {
  if (Array.isArray(content['identifiers']))
    return checkRecord({ kind: mapping.kind, ...content }, mapping.at)
  const identifiers: { kind: IdentifierKind; value: string }[] = []
  const fields: Record<string, unknown> = {}
  const faults: FieldError[] = []
  for (const [column, value] of Object.entries(content)) {
    if (value === null || value === '') continue
    const identifierKind = findIdentifierKind(column, mapping)
    if (identifierKind !== undefined) {
      identifiers.push({
        kind: identifierKind,
        value: spellIdentifier(value, identifierKind, mapping.source),
      })
      continue
    }
    const type = mapping.types.get(column)
    const read = type === undefined || typeof value !== 'string' ? value : readValue(value, type)
    if (read === undefined) faults.push({ field: column, message: `must be a ${type}` })
    else fields[column] = read
  }
  const checked = checkRecord({ kind: mapping.kind, identifiers, fields }, mapping.at)
  if (faults.length === 0) return checked
  return { faults: 'faults' in checked ? [...faults, ...checked.faults] : faults }
}

function findIdentifierKind(column: string, { kind, identifiers }: Mapping): IdentifierKind | undefined {
  if (identifiers !== null) return identifiers.get(column)
  const named = IdentifierKind.safeParse(column.trim().toLowerCase().replaceAll(' ', '_'))
  return named.success && IDENTIFIED_BY[kind].includes(named.data) ? named.data : undefined
}
