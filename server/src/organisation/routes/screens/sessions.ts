import { z } from 'zod'
import { success, successWithMessage, Uuid } from '#contract/envelope.ts'
import { isRole } from '#contract/scopes.ts'
import { ChooseBody, ListedSession, OwnOrganisations, Session, SignedIn } from '#contract/sessions.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { ok } from '../../../api/http/envelope.ts'
import { clearSessionCookie, isSecure, readSessionToken } from '../../../api/http/sessions.ts'
import type { Api, Services } from '../../../api/services.ts'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { AppError, forbidden, notFound } from '../../../lib/errors.ts'
import { deriveCsrfToken } from '../../../lib/security/session-tokens.ts'
import { enterOrganisation } from '../../sign-in.ts'
import { recordAudit } from '../../store/audit.ts'
import { findMemberById } from '../../store/members.ts'
import { listOrganisationsOf } from '../../store/organisations-of.ts'
import { getOrganisation } from '../../store/organisations.ts'
import { findSession, listSessions, revokeSessions } from '../../store/sessions.ts'
import { signingIn, welcomeSession } from './sign-in.ts'

const Ended = z.object({ revoked: z.array(Uuid) })

/** Adds the endpoints of the current session and of the member's other sessions. */
export function sessionRoutes(api: Api, services: Services): void {
  defineCurrent(api)
  defineOrganisations(api, services)
  defineSwitch(api, services)
  defineSignOut(api, services)
  defineList(api)
  defineEnd(api)
}

function defineCurrent(api: Api): void {
  api.get(
    '/session',
    { config: { scope: 'any key' }, schema: { response: { 200: successWithMessage(200, Session) } } },
    async (request) => {
      const session = await describeSession(request.db, request.caller, readSessionToken(request) ?? '')
      return ok(session, { message: `Signed in as ${session.email}` })
    },
  )
}

function defineOrganisations(api: Api, { store }: Services): void {
  api.get(
    '/organisations',
    { config: { scope: 'any key' }, schema: { response: { 200: success(200, OwnOrganisations) } } },
    async ({ db, caller }) => {
      const verified = await isVerified(db, caller)
      const found = await listOrganisationsOf(store.system, caller.email)
      const shown = found.map((one) => ({ ...one, current: one.org_id === caller.orgId }))
      return ok({ verified, organisations: shown.filter(({ current }) => verified || current) })
    },
  )
}

function defineSwitch(api: Api, { publicUrl, store }: Services): void {
  api.post(
    '/session/organisation',
    {
      config: { scope: 'any key', body: 'control' },
      schema: { body: ChooseBody, response: { 200: success(200, SignedIn) } },
    },
    async (request, reply) => {
      const { db, caller, body } = request
      if (!(await isVerified(db, caller))) {
        throw forbidden(
          'This session began with a link that does not prove your address. Sign in with single sign-on or a mailed link to change organisations',
        )
      }
      const member = await findMemberById(db, caller.orgId, caller.memberId)
      const identity = {
        email: caller.email,
        firstName: member?.first_name ?? null,
        lastName: member?.last_name ?? null,
      }
      const entering = { ...signingIn(request), way: 'switch' as const }
      const session = await enterOrganisation(store.system, identity, body.org_id, entering)
      return ok({
        next: welcomeSession(request, reply, session, { publicUrl: publicUrl(), next: undefined }),
      })
    },
  )
}

function defineSignOut(api: Api, { publicUrl }: Services): void {
  api.post(
    '/sign-out',
    { config: { scope: 'any key', body: 'control' }, schema: { response: { 200: success(200, Ended) } } },
    async (request, reply) => {
      const revoked = await endSessions(request.db, request.caller, { only: request.caller.keyId })
      clearSessionCookie(reply, isSecure(request, publicUrl()))
      return ok({ revoked })
    },
  )
}

function defineList(api: Api): void {
  api.get(
    '/sessions',
    { config: { scope: 'any key' }, schema: { response: { 200: success(200, z.array(ListedSession)) } } },
    async ({ db, caller }) => {
      const sessions = await listSessions(db, caller.orgId, caller.memberId)
      return ok(
        sessions.map(({ key_id, browser, created_at, last_used_at, expires_at }) => ({
          session_id: key_id,
          browser: browser ?? '',
          created_at: created_at.toISOString(),
          last_used_at: (last_used_at ?? created_at).toISOString(),
          expires_at: (expires_at ?? created_at).toISOString(),
          current: key_id === caller.keyId,
        })),
      )
    },
  )
}

function defineEnd(api: Api): void {
  api.delete(
    '/sessions/:session_id',
    {
      config: { scope: 'any key', body: 'control' },
      schema: { params: z.strictObject({ session_id: Uuid }), response: { 200: success(200, Ended) } },
    },
    async ({ db, caller, params }) => {
      const revoked = await endSessions(db, caller, { only: params.session_id })
      if (revoked.length === 0) throw notFound('Session')
      return ok({ revoked })
    },
  )

  api.delete(
    '/sessions',
    { config: { scope: 'any key', body: 'control' }, schema: { response: { 200: success(200, Ended) } } },
    async ({ db, caller }) => ok({ revoked: await endSessions(db, caller, { allBut: caller.keyId }) }),
  )
}

async function isVerified(db: Db, { orgId, keyId }: Caller): Promise<boolean> {
  return (await findSession(db, orgId, keyId))?.is_verified === true
}

async function describeSession(db: Db, caller: Caller, token: string): Promise<Session> {
  const [member, organisation, session] = await Promise.all([
    findMemberById(db, caller.orgId, caller.memberId),
    getOrganisation(db, caller.orgId),
    findSession(db, caller.orgId, caller.keyId),
  ])
  if (member === undefined || !session?.expires_at || !isRole(member.role)) {
    throw new AppError('Unauthorized', 'The session has ended. Sign in again')
  }
  const name = [member.first_name, member.last_name].filter((part) => part !== null).join(' ')
  return {
    session_id: caller.keyId,
    email: member.email,
    ...(name === '' ? {} : { name }),
    role: member.role,
    scopes: [...caller.scopes],
    organisation: { id: caller.orgId, name: organisation.name },
    csrf_token: deriveCsrfToken(token),
    expires_at: session.expires_at.toISOString(),
  }
}

async function endSessions(
  db: Db,
  caller: Caller,
  which: { only: string } | { allBut: string },
): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const revoked = await revokeSessions(trx, caller, which)
    for (const target of revoked) {
      await recordAudit(trx, caller.orgId, caller, { action: 'session.revoked', target })
    }
    return revoked
  })
}
