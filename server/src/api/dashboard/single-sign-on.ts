import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { reasonOf } from '../../lib/errors.ts'
import { type Attempt, createOpenId, type OpenId } from '../../lib/open-id.ts'
import { tryOpen } from '../../lib/security/secrets.ts'
import { keepProvedIdentity } from '../../organisation/routes/screens/sign-in-choices.ts'
import { signingIn, welcomeSession } from '../../organisation/routes/screens/sign-in.ts'
import { enterOrganisation, type VerifiedIdentity } from '../../organisation/sign-in.ts'
import { listOrganisationsOf } from '../../organisation/store/organisations-of.ts'
import { refuseUnknown } from '../http/errors.ts'
import { readCookie, writeCookie } from '../http/sessions.ts'
import type { Api, Services } from '../services.ts'

const CALLBACK = '/sign-in/oidc'
const ATTEMPT_COOKIE = 'loam_sign_in'
const ATTEMPT_SECONDS = 600
const BINDING = { orgId: 'none', record: 'attempt to sign in' }

const Kept = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string().optional(),
})
type Kept = Attempt & { next?: string | undefined }

const OPEN = { scope: 'public' as const, metered: true, callsOut: 'committed' as const }

/**
 * Adds the two routes of signing in with an OpenID provider: the redirect to it and the redirect back.
 * Failures redirect to `/sign-in?problem=`.
 */
export function singleSignOn(app: Api, services: Services): void {
  const openId = createOpenId(services.config)

  app.get(
    `${CALLBACK}/start`,
    {
      config: OPEN,
      schema: { hide: true, querystring: z.object({ next: z.string().max(4000).optional() }) },
    },
    async (request, reply) => {
      if (openId === null) return refuseUnknown(request)
      try {
        const { url, attempt } = await openId.begin(services.publicUrl() + CALLBACK)
        keepAttempt(reply, services, { ...attempt, next: request.query.next })
        return await reply.header('cache-control', 'no-store').redirect(url, 303)
      } catch (cause) {
        return refuse(reply, services, 'provider', cause)
      }
    },
  )

  app.get(CALLBACK, { config: OPEN, schema: { hide: true } }, async (request, reply) => {
    if (openId === null) return refuseUnknown(request)
    const kept = takeAttempt(request, reply, services)
    if (kept === null) return refuse(reply, services, 'expired')
    return finish(request, reply, services, { openId, kept })
  })
}

async function finish(
  request: FastifyRequest,
  reply: FastifyReply,
  services: Services,
  { openId, kept }: { openId: OpenId; kept: Kept },
): Promise<FastifyReply> {
  // The callback address is the one the provider was given, whatever host name this server has behind a
  // proxy.
  const returned = new URL(services.publicUrl() + CALLBACK)
  returned.search = URL.parse(request.url, returned.href)?.search ?? ''
  let identity
  try {
    identity = await openId.finish(returned, kept)
  } catch (cause) {
    return refuse(reply, services, 'provider', cause)
  }
  if (identity.email === null || !identity.isVerified) return refuse(reply, services, 'unverified')
  const { email, firstName, lastName } = identity
  return enter(request, reply, services, { email, firstName, lastName, next: kept.next })
}

/**
 * Signs the person in to the only organisation where their membership is confirmed. Without one, or with
 * several, the person has to choose.
 */
async function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  services: Services,
  proved: VerifiedIdentity & { next: string | undefined },
): Promise<FastifyReply> {
  const { system } = services.store
  const found = await listOrganisationsOf(system, proved.email)
  if (found.length === 0) return refuse(reply, services, 'not_a_member')
  void reply.header('cache-control', 'no-store')
  const [only, ...others] = found.filter(({ status }) => status === 'member')
  if (only === undefined || others.length > 0) {
    keepProvedIdentity(reply, services, proved)
    return reply.redirect('/sign-in/organisations', 303)
  }
  const entering = { ...signingIn(request), way: 'single sign-on' as const }
  const session = await enterOrganisation(system, proved, only.org_id, entering)
  return reply.redirect(
    welcomeSession(request, reply, session, { publicUrl: services.publicUrl(), next: proved.next }),
    303,
  )
}

type Problem = 'provider' | 'expired' | 'unverified' | 'not_a_member'

function refuse(reply: FastifyReply, { log }: Services, problem: Problem, cause?: unknown): FastifyReply {
  log.warn(
    { problem, ...(cause === undefined ? {} : { cause: reasonOf(cause) }) },
    'single sign-on was refused',
  )
  return reply.header('cache-control', 'no-store').redirect(`/sign-in?problem=${problem}`, 303)
}

function keepAttempt(reply: FastifyReply, { sealer, publicUrl }: Services, attempt: Kept): void {
  const value = sealer.seal(JSON.stringify(attempt), BINDING)
  writeCookie(reply, {
    name: ATTEMPT_COOKIE,
    value,
    path: CALLBACK,
    seconds: ATTEMPT_SECONDS,
    isSecure: publicUrl().startsWith('https:'),
  })
}

/** Returns the attempt that this browser began, or null. Each attempt can be read once. */
function takeAttempt(
  request: FastifyRequest,
  reply: FastifyReply,
  { sealer, publicUrl }: Services,
): Kept | null {
  const isSecure = publicUrl().startsWith('https:')
  writeCookie(reply, { name: ATTEMPT_COOKIE, value: '', path: CALLBACK, seconds: 0, isSecure })
  const sealed = readCookie(request, ATTEMPT_COOKIE)
  const opened = sealed === undefined ? null : tryOpen(sealer, sealed, BINDING)
  return opened === null ? null : Kept.parse(JSON.parse(opened))
}
