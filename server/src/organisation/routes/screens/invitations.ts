import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { SignedIn } from '#contract/sessions.ts'
import { AcceptBody, InvitationPage } from '#contract/sheet-settings.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { inTransaction } from '../../../database/connection/db.ts'
import { AppError } from '../../../lib/errors.ts'
import { hashToken } from '../../../lib/security/keys.ts'
import { acceptInvitation } from '../../members.ts'
import { startSession } from '../../sign-in.ts'
import { findInvitationByToken } from '../../store/invitations.ts'
import { findVerifiedEmail } from '../../store/sessions.ts'
import { signingIn, welcomeSession } from './sign-in.ts'

const Params = z.strictObject({ token: z.string() })
const OPEN = { scope: 'public' as const, metered: true, body: 'control' as const }

/**
 * Adds the endpoints behind the link of an invitation. Reading it accepts nothing; accepting also signs in.
 */
export function invitationAcceptance(api: Api, { store, publicUrl }: Services): void {
  api.get(
    '/invitations/:token',
    { config: OPEN, schema: { params: Params, response: { 200: success(200, InvitationPage) } } },
    async ({ params }) => {
      const found = await findInvitationByToken(store.system, hashToken(params.token))
      if (found === undefined) throw invitationGone()
      return ok({ email: found.email, role: found.role, organisation: found.org_name })
    },
  )

  api.post(
    '/invitations/:token',
    {
      config: OPEN,
      schema: { params: Params, body: AcceptBody.prefault({}), response: { 200: success(200, SignedIn) } },
    },
    async (request, reply) => {
      const { params, body } = request
      const session = await inTransaction(store.system, async (trx) => {
        if ((await findInvitationByToken(trx, hashToken(params.token))) === undefined) throw invitationGone()
        const names = { first_name: body.first_name || null, last_name: body.last_name || null }
        const { before, browser } = signingIn(request)
        const proved = before === undefined ? undefined : await findVerifiedEmail(trx, hashToken(before))
        const { org_id, isConfirmed, ...member } = await acceptInvitation(trx, params.token, names, proved)
        const who = { orgId: org_id, member, isVerified: isConfirmed }
        return startSession(trx, who, { before, browser }, 'invitation')
      })
      return ok({
        next: welcomeSession(request, reply, session, { publicUrl: publicUrl(), next: undefined }),
      })
    },
  )
}

const invitationGone = () =>
  new AppError(
    'Gone',
    'This invitation was already accepted, was withdrawn or has expired. Ask for a new one',
  )
