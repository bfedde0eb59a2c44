import type { FieldError } from '#contract/errors.ts'
import { type EntityKind, MAX_RECORD_CHARS, RecordInput } from '#contract/records.ts'
import { fieldErrors, parseInWords } from '../lib/field-errors.ts'
import { makeStorable, makeStorableText } from '../lib/json/storable.ts'
import { normaliseIdentifier } from './identifiers.ts'
import { compareIdentifiers, type Identifier, keyOf } from './store/identifiers.ts'
import { typeOfValue } from './value-types.ts'

/** A reference to an entity in a record: one or more identifiers, sorted. */
export type Mention = { kind: EntityKind; identifiers: Identifier[] }

/** A checked record: normalised identifiers, and values as JSON that PostgreSQL can store. */
export type CheckedRecord = Mention & {
  fields: { field: string; json: string; type: string }[]
  relationships: { type: string; to: Mention }[]
  events: { type: string; at: string; json: string }[]
  at: string
}

/** The tolerance for clocks of sources. A time far in the future would win over every later value. */
const MAX_AHEAD_MS = 5 * 60_000
const MAX_VALUE_CHARS = 65_536

/** Checks a record. Returns all its errors at once. */
export function checkRecord(given: unknown, now: Date): { record: CheckedRecord } | { faults: FieldError[] } {
  const parsed = parseInWords(RecordInput, given)
  if (!parsed.success) {
    return { faults: parsed.error.issues.flatMap((issue) => fieldErrors(issue, given, 'record')) }
  }
  const { kind, identifiers, fields, relationships, events, observed_at } = parsed.data
  const faults: FieldError[] = []
  const at = observed_at ?? now.toISOString()
  if (Date.parse(at) > now.getTime() + MAX_AHEAD_MS) {
    faults.push({ field: 'observed_at', message: 'must not be in the future' })
  }
  const record: CheckedRecord = {
    kind,
    identifiers: readIdentifiers(kind, identifiers, 'identifiers', faults),
    fields: Object.entries(fields).flatMap(([name, value]) => {
      if (isEmpty(value)) return []
      const json = printValue(value, `fields.${name}`, faults)
      return [{ field: storableText(name), json, type: typeOfValue(value) }]
    }),
    relationships: relationships.map(({ type, to }, place) => {
      const path = `relationships[${place}].to.identifiers`
      const target = { kind: to.kind, identifiers: readIdentifiers(to.kind, to.identifiers, path, faults) }
      return { type: storableText(type), to: target }
    }),
    events: events.map((event, place) => {
      const json = printValue(event.data, `events[${place}].data`, faults)
      return { type: storableText(event.type), at: event.at, json }
    }),
    at,
  }
  refuseLong(record.fields, 'fields', faults)
  refuseLong(record.events, 'events', faults)
  return faults.length > 0 ? { faults } : { record }
}

function refuseLong(parts: readonly { json: string }[], field: string, faults: FieldError[]): void {
  const chars = parts.reduce((sum, { json }) => sum + json.length, 0)
  if (chars <= MAX_RECORD_CHARS) return
  faults.push({ field, message: `must have at most ${MAX_RECORD_CHARS} characters as JSON in all` })
}

/** Returns true for an empty value. A source without a value does not remove the values of other sources. */
export const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

const storableText = (text: string) => makeStorableText(text, () => undefined)

function printValue(value: unknown, field: string, faults: FieldError[]): string {
  const json = JSON.stringify(makeStorable(value, () => undefined))
  if (json.length > MAX_VALUE_CHARS) {
    faults.push({ field, message: `must have at most ${MAX_VALUE_CHARS} characters as JSON` })
  }
  return json
}

function readIdentifiers(
  kind: EntityKind,
  given: readonly { kind: Identifier['identifierKind']; value: string }[],
  path: string,
  faults: FieldError[],
): Identifier[] {
  const read = new Map<string, Identifier>()
  for (const [place, { kind: identifierKind, value }] of given.entries()) {
    const outcome = normaliseIdentifier(kind, identifierKind, value)
    if ('fault' in outcome) faults.push({ field: `${path}[${place}]`, message: outcome.fault })
    else read.set(keyOf(outcome.identifier), outcome.identifier)
  }
  return [...read.values()].sort(compareIdentifiers)
}
