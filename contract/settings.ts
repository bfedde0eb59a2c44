import { z } from 'zod'
import { FieldWords } from './actions.ts'
import { DateTime, Uuid } from './envelope.ts'
import { Email, ImpactWarning } from './members.ts'
import { ROLES, SCOPES } from './scopes.ts'
import { MAX_NAME, Storable } from './text.ts'

/** Schemas of the internal API for the settings of the dashboard. They are not part of the public API. */

export const ListedMember = z.object({
  email: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  role: z.enum(ROLES),
  is_you: z.boolean(),
})
export const PendingInvitation = z.object({
  email: z.string(),
  role: z.string(),
  created_at: DateTime,
  expires_at: DateTime,
  email_sent: z.boolean(),
  link: z
    .string()
    .nullable()
    .describe('Null if the server sends mail, or if the link was encrypted with another LOAM_SECRET'),
})
export const Roster = z.object({
  members: z.array(ListedMember),
  invitations: z.array(PendingInvitation),
  member_limit: z.int().nullable(),
  mail: z.boolean().describe('True if the server mails invitations; otherwise their links are shown'),
})
export type Roster = z.infer<typeof Roster>
export const InviteBody = z.strictObject({ email: Email, role: z.enum(ROLES) })
export const RoleBody = z.strictObject({ role: z.enum(ROLES) })
export const RemovalImpact = z.object({ email: z.string(), warnings: z.array(ImpactWarning) })

export const KEY_PRESETS = ['full', 'read', 'run', 'custom'] as const
export const ListedKey = z.object({
  key_id: Uuid,
  email: z.string().nullable(),
  last4: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  allowed_workflow_ids: z.array(Uuid).nullable(),
  rate_limit: z.int().nullable(),
  created_at: DateTime,
  last_used_at: DateTime.nullable(),
  expires_at: DateTime.nullable(),
  revoked_at: DateTime.nullable(),
  status: z.enum(['active', 'expired', 'revoked']),
  is_yours: z.boolean(),
})
export const NewKeyBody = z.strictObject({
  preset: z.enum(KEY_PRESETS).default('full'),
  scopes: z
    .array(z.enum(SCOPES))
    .min(1, 'must name at least one scope')
    .optional()
    .describe('Only with the preset `custom`'),
  allowed_workflow_ids: z.array(Uuid).min(1, 'must name at least one workflow').max(1000).optional(),
  expires_at: z.iso.datetime({ offset: true }).optional(),
  email: Email.or(Storable.regex(/^[^\s@]+@localhost$/))
    .optional()
    .describe('The member the key acts for; the caller by default'),
})
export const IssuedKey = z.object({
  key_id: Uuid,
  key: z.string().describe('Shown only once'),
  last4: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  expires_at: DateTime.nullable(),
})
export const RotateKeyBody = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(31_536_000)
    .default(86_400)
    .describe('How long the old key stays valid'),
})
export const RotatedKey = IssuedKey.omit({ scopes: true }).extend({
  replaces: Uuid,
  old_expires_at: DateTime,
})

/** A provider that supports connections. One of `field_sets` must be filled; `optional_fields` may be added. */
export const ConnectableProvider = z.object({
  provider: z.string(),
  name: z.string(),
  field_sets: z.array(z.array(z.string())),
  optional_fields: z.array(z.string()),
  fields: z.array(z.object({ name: z.string(), ...FieldWords.shape })).describe('The words of all of them'),
})
export const Connection = z.object({
  connection_id: Uuid,
  provider: z.string(),
  provider_name: z.string(),
  name: z.string(),
  owner: z.string().nullable(),
  shared: z.boolean(),
  created_at: DateTime,
  used_by: z.array(z.object({ workflow_id: Uuid, name: z.string() })),
  may_remove: z.boolean(),
})
export const NewConnectionBody = z.strictObject({
  provider: z.string().min(1),
  name: Storable.trim().max(MAX_NAME).optional(),
  fields: z
    .record(z.string(), z.string())
    .default({})
    .describe('Values by field name; most providers have one field, `secret`'),
  shared: z.boolean().default(true).describe('True for everybody; false for your own workflows only'),
})
export const ConnectionTest = z.object({ connection_id: Uuid, ok: z.boolean(), message: z.string() })

export const Variable = z.object({
  key: z.string(),
  workflow_id: Uuid.nullable(),
  workflow_name: z.string().nullable(),
  updated_by: z.string(),
  updated_at: DateTime,
})
export const SetVariableBody = z.strictObject({
  key: z.string(),
  value: z.string(),
  workflow_id: Uuid.nullable().default(null).describe('Null for the whole organisation'),
})
export const VariableQuery = z.strictObject({ workflow_id: Uuid.optional() })

export const AuditQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: Uuid.optional().describe('`next` of the previous page'),
  actor: z.string().optional(),
  action: z.string().optional().describe('The whole action, or its beginning up to a dot, such as `member`'),
})
export const AuditEntry = z.object({
  entry_id: Uuid,
  at: DateTime,
  actor: z.string(),
  key: z.string().nullable().describe('`...XXXX` of an API key, `session`, or null for the operator'),
  action: z.string(),
  target: z.string(),
  subject: z
    .object({ name: z.string(), path: z.string().nullable().describe('Null if it was deleted') })
    .nullable()
    .describe('The name and the page of what `target` is the id of; null if it has none'),
  details: z.record(z.string(), z.unknown()),
})
export const AuditPage = z.object({ entries: z.array(AuditEntry), next: Uuid.nullable() })

export const Health = z.object({
  version: z.string(),
  database: z.string().describe('Version of PostgreSQL'),
  workers: z.int().describe('Worker processes that reported within the last 10 s'),
  rows_in_the_air: z.int().describe('Rows queued or running'),
  runs_under_way: z.int(),
  mail: z.boolean(),
  single_sign_on: z.boolean(),
  limits: z.array(
    z.object({
      name: z.string(),
      setting: z.string(),
      used: z.int().nullable(),
      limit: z.int().nullable().describe('Null if there is no limit'),
    }),
  ),
})
