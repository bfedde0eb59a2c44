import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { ROLES } from './scopes.ts'

export const User = z
  .object({
    email: z.string(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(ROLES).describe('A label; scopes are authoritative'),
    org_id: Uuid,
    org_members: z.object({ count: z.int(), emails: z.array(z.string()) }),
  })
  .meta({ id: 'User' })

export const KNOWLEDGE_MAX_BYTES = 262_144

export const Knowledge = z
  .object({ content: z.string().nullable(), exists: z.boolean(), updated_at: DateTime.nullable() })
  .meta({ id: 'Knowledge' })

export const KnowledgeBody = z.strictObject({
  content: z
    .string()
    .refine((text) => !text.includes('\0'), 'must not contain NUL characters')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode (it holds half of a surrogate pair)')
    .refine(
      (text) => new TextEncoder().encode(text).length <= KNOWLEDGE_MAX_BYTES,
      `must be at most ${KNOWLEDGE_MAX_BYTES} bytes of UTF-8 (256 KB)`,
    )
    .describe('Replaces the whole file; an empty string clears the file'),
})
