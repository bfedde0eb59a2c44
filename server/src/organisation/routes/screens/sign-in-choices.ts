import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { ChooseBody, SignedIn, SignInChoices } from '#contract/sessions.ts'
import { ok } from '../../../api/http/envelope.ts'
import { readCookie, writeCookie } from '../../../api/http/sessions.ts'
import type { Api, Services } from '../../../api/services.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Sealer, tryOpen } from '../../../lib/security/secrets.ts'
import { enterOrganisation } from '../../sign-in.ts'
import { listOrganisationsOf } from '../../store/organisations-of.ts'
import { signingIn, welcomeSession } from './sign-in.ts'

export const IDENTITY_COOKIE = 'loam_identity'
const PATH = '/internal/sign-in/organisations'
const SECONDS = 600
const BINDING = { orgId: 'none', record: 'proved identity' }

const Proved = z.object({
  email: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  next: z.string().optional(),
  until: z.number(),
})
type Kept = Omit<z.infer<typeof Proved>, 'until'> & { next: string | undefined }

/**
 * Stores the identity that the provider has proved, sealed in a cookie, until the person has chosen an
 * organisation.
 */
export function keepProvedIdentity(reply: FastifyReply, services: Services, proved: Kept): void {
  write(reply, services, sealIdentity(services.sealer, proved), SECONDS)
}

export function sealIdentity(sealer: Sealer, { email, firstName, lastName, next }: Kept): string {
  const kept = { email, firstName, lastName, next, until: Date.now() + SECONDS * 1000 }
  return sealer.seal(JSON.stringify(kept), BINDING)
}

function write(reply: FastifyReply, { publicUrl }: Services, value: string, seconds: number): void {
  const isSecure = publicUrl().startsWith('https:')
  writeCookie(reply, { name: IDENTITY_COOKIE, value, path: PATH, seconds, isSecure })
}

function readProvedIdentity(request: FastifyRequest, { sealer }: Services): z.infer<typeof Proved> {
  const sealed = readCookie(request, IDENTITY_COOKIE)
  const opened = sealed === undefined ? null : tryOpen(sealer, sealed, BINDING)
  const proved = opened === null ? null : Proved.parse(JSON.parse(opened))
  if (proved !== null && proved.until > Date.now()) return proved
  throw new AppError('Gone', 'Signing in took too long, or began in another browser. Sign in again')
}

/** Adds the endpoints that list the organisations of a proved identity and sign in to the chosen one. */
export function signInChoices(api: Api, services: Services): void {
  const { store, publicUrl } = services
  const config = { scope: 'public' as const, metered: true, body: 'control' as const }

  api.get(
    '/sign-in/organisations',
    { config, schema: { response: { 200: success(200, SignInChoices) } } },
    async (request) => {
      const { email } = readProvedIdentity(request, services)
      return ok({ email, organisations: await listOrganisationsOf(store.system, email) })
    },
  )

  api.post(
    '/sign-in/organisations',
    { config, schema: { body: ChooseBody, response: { 200: success(200, SignedIn) } } },
    async (request, reply) => {
      const proved = readProvedIdentity(request, services)
      const entering = { ...signingIn(request), way: 'single sign-on' as const }
      const session = await enterOrganisation(store.system, proved, request.body.org_id, entering)
      write(reply, services, '', 0)
      return ok({
        next: welcomeSession(request, reply, session, { publicUrl: publicUrl(), next: proved.next }),
      })
    },
  )
}
