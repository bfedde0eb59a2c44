import type { EntityKind, ValueType } from '#contract/records.ts'

/** An identifier or a field as a row has it; `type` says what a text is to be read as. */
export type GivenPair = { name: string; value: unknown; type?: ValueType }

export type GivenRecord = {
  source: string
  kind: EntityKind
  identifiers: readonly GivenPair[]
  fields: readonly GivenPair[]
}

/** Refused: the record store does not take it, and why. */
export type RecordAnswer<Value> = { ok: true; value: Value } | { ok: false; message: string }

export type FoundRecord = { entity: Record<string, unknown>; events: RecordEvent[] }
export type RecordEvent = { type: string; at: string; source: string; data: unknown }

export type Relationship = {
  /** Null: whichever kind has the identifier. */
  fromKind: EntityKind | null
  from: string
  toKind: EntityKind
  to: string
  type: string
}

/** What actions may do with the record store of the organisation. Whatever writes does so once for this cell run. */
export type RecordAccess = {
  ingest(record: GivenRecord): Promise<RecordAnswer<{ entity_id: string; created: boolean }>>
  /** Null where no entity of the kind has the identifier. */
  lookup(query: {
    kind: EntityKind
    identifier: string
    eventTypes: readonly string[]
    limit: number
  }): Promise<RecordAnswer<FoundRecord | null>>
  /** Sets fields of an entity that is there; null where there is none. */
  update(update: {
    kind: EntityKind
    identifier: string
    fields: readonly GivenPair[]
  }): Promise<RecordAnswer<{ entity_id: string; updated: boolean } | null>>
  relate(operation: 'add' | 'remove', relationship: Relationship): Promise<RecordAnswer<{ changed: boolean }>>
}
