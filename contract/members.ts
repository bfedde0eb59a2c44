import { z } from 'zod'

/** An email address. Addresses are stored and compared in lower case. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('must be an email address').max(254, 'must be at most 254 characters'))

export const AddMemberBody = z.strictObject({ email: Email, role: z.enum(['admin', 'member']) })

export const Invitation = z
  .object({
    email: z.string(),
    role: z.string(),
    status: z.literal('pending'),
    email_sent: z.boolean(),
  })
  .meta({ id: 'Invitation' })

export const RemoveMemberQuery = z.strictObject({
  email: z.string().trim().toLowerCase().min(1, 'must not be empty').describe('Percent-encoded'),
})

export const ImpactWarning = z.object({
  code: z.enum(['WORKFLOWS_LOST_CONNECTION', 'WORKFLOWS_LOST_OWNER', 'SOURCES_LOST_OWNER', 'IMPACT_UNKNOWN']),
  message: z.string(),
  resources: z.array(z.object({ id: z.string(), name: z.string(), type: z.string() })).optional(),
})
export type ImpactWarning = z.infer<typeof ImpactWarning>

export const RemovedMember = z
  .object({
    email: z.string(),
    removed: z.enum(['member', 'invitation']),
    warnings: z.array(ImpactWarning),
  })
  .meta({ id: 'RemovedMember' })
