import type { EntityKind, ValueType } from '#contract/records.ts'

/** An identifier or a field as a row has it. `type` is the type that a text is read as. */
export type GivenPair = { name: string; value: unknown; type?: ValueType }

export type GivenRecord = {
  source: string
  kind: EntityKind
  identifiers: readonly GivenPair[]
  fields: readonly GivenPair[]
}

/** The answer of the record store, or the reason why it rejects the record. */
export type RecordAnswer<Value> = { ok: true; value: Value } | { ok: false; message: string }

export type FoundRecord = { entity: Record<string, unknown>; events: RecordEvent[] }
export type RecordEvent = { type: string; at: string; source: string; data: unknown }

export type Relationship = {
  /** The kind of the first entity. Null accepts any kind that has the identifier. */
  fromKind: EntityKind | null
  from: string
  toKind: EntityKind
  to: string
  type: string
}

/** Gives an action access to the organisation's record store. Every write takes effect once for this cell run. */
export type RecordAccess = {
  ingest(record: GivenRecord): Promise<RecordAnswer<{ entity_id: string; created: boolean }>>
  /** Returns null if no entity of the kind has the identifier. */
  lookup(query: {
    kind: EntityKind
    identifier: string
    eventTypes: readonly string[]
    limit: number
  }): Promise<RecordAnswer<FoundRecord | null>>
  /** Sets fields of an existing entity. Returns null if there is none. */
  update(update: {
    kind: EntityKind
    identifier: string
    fields: readonly GivenPair[]
  }): Promise<RecordAnswer<{ entity_id: string; updated: boolean } | null>>
  relate(operation: 'add' | 'remove', relationship: Relationship): Promise<RecordAnswer<{ changed: boolean }>>
}
