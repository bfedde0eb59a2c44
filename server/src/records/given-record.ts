import { type EntityKind, IdentifierKind } from '#contract/records.ts'
import { spellIdentifier } from './identifiers.ts'
import { type CheckedRecord, checkRecord, isEmpty } from './record.ts'
import { readValue, type ValueType } from './value-types.ts'

/** A name with a value from a row. Empty values are ignored. */
export type GivenPair = { name: string; value: unknown; type?: ValueType }
export type GivenRecord = {
  source: string
  kind: EntityKind
  identifiers: readonly GivenPair[]
  fields: readonly GivenPair[]
}

export type ReadRecord = { ok: true; record: CheckedRecord } | { ok: false; message: string }

/** Reads a record from the values of a row. Returns a message if they make no valid record. */
export function readGivenRecord({ source, kind, ...given }: GivenRecord, now: Date): ReadRecord {
  const named = given.identifiers.filter(({ value }) => !isEmpty(value))
  if (named.length === 0) return { ok: false, message: 'no identifier has a value' }
  const faults: string[] = []
  const identifiers = named.flatMap(({ name, value }) => {
    const read = IdentifierKind.safeParse(name)
    if (read.success) return [{ kind: read.data, value: spellIdentifier(value, read.data, source) }]
    faults.push(`identifiers: ${name} must be one of ${IdentifierKind.options.join(', ')}`)
    return []
  })
  const fields = readFields(given.fields, faults)
  if (faults.length > 0) return { ok: false, message: faults.join('; ') }
  const checked = checkRecord({ kind, identifiers, fields }, now)
  if ('record' in checked) return { ok: true, record: checked.record }
  const messages = checked.faults.map(({ field, message }) => {
    const place = /^identifiers\[(\d+)\]/.exec(field)?.[1]
    return `${place === undefined ? field : named[Number(place)]?.name}: ${message}`
  })
  return { ok: false, message: messages.join('; ') }
}

/** Reads values by name. Of repeated names the last one counts. */
function readFields(pairs: readonly GivenPair[], faults: string[]): Record<string, unknown> {
  const read = pairs
    .filter(({ name, value }) => name !== '' && !isEmpty(value))
    .map(({ name, value, type }): [string, unknown] => {
      const typed = type === undefined || typeof value !== 'string' ? value : readValue(value, type)
      if (typed === undefined) faults.push(`fields.${name}: must be a ${type}`)
      return [name, typed]
    })
  return Object.fromEntries(read)
}
