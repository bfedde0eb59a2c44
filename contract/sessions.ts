import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Email } from './members.ts'
import { ROLES, SCOPES } from './scopes.ts'

export const SESSION_COOKIE = 'loam_session'
/** Carries the `csrf_token` of the session on every request that changes something. */
export const CSRF_HEADER = 'x-loam-csrf'

/** Who is signed in, and what their role permits. */
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

/** Which ways there are to sign in besides a link from an administrator. */
export const SignInWays = z.object({ mail: z.boolean(), oidc: z.boolean() })

/** Addresses on this machine, such as admin@localhost, are those of somebody who tries it out. */
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
  next: z.string().max(4000).optional().describe('The own address that was asked for first'),
})

/** An organisation that an address belongs to, or is invited to. */
export const OwnOrganisation = z.object({
  org_id: Uuid,
  name: z.string(),
  role: z.string(),
  status: z
    .enum(['member', 'unconfirmed', 'invited'])
    .describe('Choosing one confirms a membership that is `unconfirmed`, and accepts an invitation'),
  vouched_by: z.string().nullable().describe('Who invited, or an administrator of it'),
})

/** What somebody whose address a provider has proved may sign in to. */
export const SignInChoices = z.object({ email: z.string(), organisations: z.array(OwnOrganisation) })

/** Where somebody who is signed in may go on to; only those who proved their address may. */
export const OwnOrganisations = z.object({
  verified: z.boolean(),
  organisations: z.array(OwnOrganisation.extend({ current: z.boolean() })),
})

export const ChooseBody = z.strictObject({ org_id: Uuid })

export const SignedIn = z.object({ next: z.string() })
