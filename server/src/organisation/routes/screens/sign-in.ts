import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { SignedIn, SignInBody, SignInLink, SignInMailBody, SignInWays } from '#contract/sessions.ts'
import { accepted, ok } from '../../../api/http/envelope.ts'
import { describeBrowser, isSecure, readSessionToken, setSessionCookie } from '../../../api/http/sessions.ts'
import type { Api, Services } from '../../../api/services.ts'
import { AppError, reasonOf, tooManyRequests } from '../../../lib/errors.ts'
import { hashToken } from '../../../lib/security/keys.ts'
import { mailSignInLinks, type NewSession, readSignInLink, signInByLink } from '../../sign-in.ts'
import { takeSignInTurn } from '../../store/sign-in-links.ts'

const MAILS_PER_HOUR = 5

const Params = z.strictObject({ token: z.string() })
/** The configuration of routes without a session; their callers are counted by address. */
const OPEN = { scope: 'public' as const, metered: true, body: 'control' as const }

export function signInRoutes(api: Api, services: Services): void {
  const { store, sendMail, publicUrl, config, log } = services

  api.get('/sign-in', { config: OPEN, schema: { response: { 200: success(200, SignInWays) } } }, async () =>
    ok({ mail: sendMail !== null, oidc: config.LOAM_OIDC_ISSUER !== undefined }),
  )

  const underWay = new Set<Promise<void>>()
  api.addHook('onClose', async () => void (await Promise.all(underWay)))
  api.post(
    '/sign-in/links',
    {
      config: { ...OPEN, callsOut: 'committed' },
      schema: { body: SignInMailBody, response: { 202: success(202, z.object({ email: z.string() })) } },
    },
    async ({ body: { email } }) => {
      if (sendMail === null) throw noMailServer(email)
      await requireTurn(services, email)
      // The mail is sent after the answer, so that neither the answer nor its time reveals whether the
      // address is known.
      const sending = mailSignInLinks(store.system, sendMail, email, publicUrl())
        .catch((cause: unknown) => log.warn({ cause: reasonOf(cause) }, 'a sign-in link could not be mailed'))
        .finally(() => underWay.delete(sending))
      underWay.add(sending)
      return accepted({ email })
    },
  )

  api.get(
    '/sign-in/:token',
    { config: OPEN, schema: { params: Params, response: { 200: success(200, SignInLink) } } },
    async ({ params }) => ok(await readSignInLink(store.system, params.token)),
  )

  api.post(
    '/sign-in/:token',
    {
      config: OPEN,
      schema: { params: Params, body: SignInBody.default({}), response: { 200: success(200, SignedIn) } },
    },
    async (request, reply) => {
      const session = await signInByLink(store.system, request.params.token, signingIn(request))
      return ok({
        next: welcomeSession(request, reply, session, { publicUrl: publicUrl(), next: request.body.next }),
      })
    },
  )
}

export const signingIn = (request: FastifyRequest) => ({
  browser: describeBrowser(request),
  before: readSessionToken(request),
})

/**
 * Sets the session cookie and returns the address to go to: the requested page of the dashboard if there is
 * one, else the start page of the role.
 */
export function welcomeSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, member }: NewSession,
  { publicUrl, next }: { publicUrl: string; next: string | undefined },
): string {
  setSessionCookie(reply, token, isSecure(request, publicUrl))
  return readOwnAddress(next) ?? (member.role === 'user' ? '/shortcuts' : '/workflows')
}

const HERE = 'http://here.invalid'

/**
 * Returns the address if it is a path of the dashboard, in a form that a header can carry, else null.
 * Addresses such as `//host` and `/\host` look like paths but lead to other hosts.
 */
function readOwnAddress(next: string | undefined): string | null {
  const parsed = next?.startsWith('/') === true ? URL.parse(next, HERE) : null
  if (parsed?.origin !== HERE || /^\/(\/|(api|internal|sign-in)\b)/.test(parsed.pathname)) return null
  return parsed.pathname + parsed.search + parsed.hash
}

async function requireTurn({ store }: Services, email: string): Promise<void> {
  const turn = await takeSignInTurn(store.system, hashToken(email), MAILS_PER_HOUR)
  if (turn.ok) return
  const message = `${MAILS_PER_HOUR} sign-in links were requested for this address within the hour. Check the mailbox, or try again later`
  throw tooManyRequests(message, turn.waitSeconds)
}

function noMailServer(email: string): AppError {
  return new AppError(
    'NO_MAIL_SERVER',
    `This server sends no mail. An administrator can create a sign-in link with: npx loam sign-in-link --email ${email}`,
  )
}
