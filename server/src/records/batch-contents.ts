import type { CheckedRecord } from './record.ts'
import type { Target } from './resolve.ts'
import type { AddressText } from './store/addresses.ts'
import type { NewEvent } from './store/events.ts'
import type { FieldType } from './store/field-types.ts'
import type { NewRelationship } from './store/relationships.ts'
import type { Term } from './store/terms.ts'

type Batch = { source: string; records: readonly CheckedRecord[] }

/**
 * Reads what records contain besides field values. `targets` are those of the records, then those of their related
 * entities.
 */
export function readContents({ source, records }: Batch, targets: readonly Target[]) {
  const relationships: NewRelationship[] = []
  const events: NewEvent[] = []
  const addressTexts: AddressText[] = []
  let next = records.length
  for (const [place, record] of records.entries()) {
    const { entityId } = targetAt(targets, place)
    const mention = (text: string) => {
      if (text.includes('@')) addressTexts.push({ entityId, text })
    }
    for (const { json } of record.fields) mention(json)
    // Email identifiers need no entry: erasing finds them directly.
    for (const { identifierKind, identifier } of record.identifiers) {
      if (identifierKind !== 'email') mention(identifier)
    }
    for (const event of record.events) {
      events.push({ ...event, entityId, source })
      mention(event.json)
    }
    for (const { type } of record.relationships) {
      const toId = targetAt(targets, next++).entityId
      relationships.push({ fromId: entityId, type, toId, source, at: record.at })
    }
  }
  return { relationships, events, addressTexts }
}

export function targetAt(targets: readonly Target[], place: number): Target {
  const target = targets[place]
  if (target === undefined) throw new Error('a record resolved to no entity')
  return target
}

export function collectTerms({ source, records }: Batch): Term[] {
  const terms = new Map<string, Term>()
  const add = (term: Term) => terms.set(`${term.topic} ${term.kind} ${term.term}`, term)
  for (const kind of new Set(records.map((record) => record.kind)))
    add({ topic: 'source', kind, term: source })
  for (const { kind, relationships, events } of records) {
    for (const { type } of relationships) add({ topic: 'relationship', kind, term: type })
    for (const { type } of events) add({ topic: 'event', kind, term: type })
  }
  return [...terms.values()]
}

/** Lists each field with each of its types once. */
export function collectFieldTypes(records: readonly CheckedRecord[]): FieldType[] {
  const types: FieldType[] = []
  const last = new Map<string, FieldType>()
  const known = new Set<string>()
  for (const { kind, fields } of records) {
    for (const { field, type } of fields) {
      // Most records have the same fields and types as the record before them.
      const before = last.get(field)
      if (before?.type === type && before.kind === kind) continue
      const fieldType = { kind, field, type }
      last.set(field, fieldType)
      const key = `${kind} ${type} ${field}`
      if (!known.has(key)) types.push(fieldType)
      known.add(key)
    }
  }
  return types
}
