import { z } from 'zod'

export const EntityKind = z.enum(['company', 'person', 'contact'])
export type EntityKind = z.infer<typeof EntityKind>

export const IdentifierKind = z.enum(['domain', 'linkedin_url', 'email', 'external'])
export type IdentifierKind = z.infer<typeof IdentifierKind>

/** The type of a field's values, as filters see it. */
export const ValueType = z.enum(['text', 'number', 'boolean', 'date', 'json'])
export type ValueType = z.infer<typeof ValueType>

export const MAX_RECORDS = 1000
/** The maximum length of all fields of a record together, and of all its events together, in characters. */
export const MAX_RECORD_CHARS = 2 * 1024 ** 2
/** The maximum stored size of all fields of one entity. */
export const MAX_ENTITY_BYTES = 4 * 1024 ** 2
const MAX_IDENTIFIERS = 20
const MAX_FIELDS = 500
const MAX_RELATED = 50
const MAX_EVENTS = 100
const MAX_NAME = 200

const Name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME, `must have at most ${MAX_NAME} characters`)

/** The source of a record. It becomes part of external ids, so it must not contain their separator, the colon. */
export const RecordSource = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, 'must be a name such as hubspot: letters, digits, and _ . - inside')

const GivenIdentifier = z.strictObject({ kind: IdentifierKind, value: z.string() })
const GivenIdentifiers = z
  .array(GivenIdentifier)
  .min(1, 'must have an identifier')
  .max(MAX_IDENTIFIERS, `must have at most ${MAX_IDENTIFIERS} identifiers`)

const Fields = z
  .record(Name, z.unknown())
  .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `must have at most ${MAX_FIELDS} fields`)

const Instant = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 date-time with its zone, such as 2030-01-31T12:00:00Z',
})

/** A record from a source about one entity. `observed_at` defaults to now. */
export const RecordInput = z.strictObject({
  kind: EntityKind,
  identifiers: GivenIdentifiers,
  fields: Fields.default({}),
  relationships: z
    .array(
      z.strictObject({ type: Name, to: z.strictObject({ kind: EntityKind, identifiers: GivenIdentifiers }) }),
    )
    .max(MAX_RELATED, `must have at most ${MAX_RELATED} relationships`)
    .default([]),
  events: z
    .array(z.strictObject({ type: Name, at: Instant, data: Fields.default({}) }))
    .max(MAX_EVENTS, `must have at most ${MAX_EVENTS} events`)
    .default([]),
  observed_at: Instant.exactOptional(),
})
export type RecordInput = z.input<typeof RecordInput>
