import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Email } from './members.ts'
import { ROLES, SCOPES } from './scopes.ts'

export const SESSION_COOKIE = 'loam_session'
/** The header that carries the session's `csrf_token` on every request that changes data. */
export const CSRF_HEADER = 'x-loam-csrf'

/** The signed-in person and the scopes of their role. */
export const Session = z.object({
  session_id: Uuid,
  email: z.string(),
  name: z.string().optional(),
  role: z.enum(ROLES),
  scopes: z.array(z.enum(SCOPES)),
  organisation: z.object({ id: Uuid, name: z.string() }),
  csrf_token: z.string(),
  expires_at: DateTime,
})
export type Session = z.infer<typeof Session>

export const ListedSession = z.object({
  session_id: Uuid,
  browser: z.string(),
  created_at: DateTime,
  last_used_at: DateTime,
  expires_at: DateTime,
  current: z.boolean(),
})

/** The available ways to sign in, besides a link from an administrator. */
export const SignInWays = z.object({ mail: z.boolean(), oidc: z.boolean() })

/** The body of a request for a sign-in link. Addresses such as admin@localhost are allowed for trying out a local installation. */
export const SignInMailBody = z.strictObject({
  email: z.union(
    [
      z
        .string()
        .trim()
        .toLowerCase()
        .regex(/^[^\s@]+@localhost$/),
      Email,
    ],
    'must be an email address',
  ),
})

export const SignInLink = z.object({ email: z.string(), organisation: z.string() })

export const SignInBody = z.strictObject({
  next: z.string().max(4000).optional().describe('The path of this site to open after signing in'),
})

/** An organisation that a person belongs to or is invited to. */
export const OwnOrganisation = z.object({
  org_id: Uuid,
  name: z.string(),
  role: z.string(),
  status: z
    .enum(['member', 'unconfirmed', 'invited'])
    .describe('Choosing the organisation confirms an `unconfirmed` membership and accepts an invitation'),
  vouched_by: z
    .string()
    .nullable()
    .describe('The person who sent the invitation, or an administrator of the organisation'),
})

/** The organisations that a person can sign in to, after single sign-on has verified their address. */
export const SignInChoices = z.object({ email: z.string(), organisations: z.array(OwnOrganisation) })

/** The organisations that a signed-in person can switch to. Only people with a verified address can switch. */
export const OwnOrganisations = z.object({
  verified: z.boolean(),
  organisations: z.array(OwnOrganisation.extend({ current: z.boolean() })),
})

export const ChooseBody = z.strictObject({ org_id: Uuid })

export const SignedIn = z.object({ next: z.string() })
