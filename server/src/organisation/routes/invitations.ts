import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { escapeHtml, sendPage } from '../../api/http/page.ts'
import type { Api, Services } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { acceptInvitation } from '../members.ts'
import { findInvitationByToken } from '../store/invitations.ts'

const Params = z.strictObject({ token: z.string() })

/** The page behind the link in an invitation, where no dashboard is built. Looking at it accepts nothing: mail scanners follow links. */
export async function showInvitation(
  reply: FastifyReply,
  { store }: Pick<Services, 'store'>,
  token: string,
): Promise<FastifyReply> {
  const invitation = await findInvitationByToken(store.system, hashToken(token))
  if (invitation === undefined) throw notFound('Invitation')
  return sendPage(
    reply,
    `Join ${invitation.org_name}`,
    `<p>${escapeHtml(invitation.email)} is invited to <b>${escapeHtml(invitation.org_name)}</b> as ${escapeHtml(invitation.role)}.</p>
<form method="post"><button>Accept the invitation</button></form>`,
  )
}

/** What that page sends. */
export function invitationPages(app: Api, { store }: Services): void {
  const options = {
    config: { scope: 'public' as const, metered: true, body: 'control' as const },
    schema: { hide: true, params: Params },
  }
  // The form has no fields.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, async () => undefined)

  app.post('/invitations/:token', options, async ({ params }, reply) => {
    const joined = await acceptInvitation(store.system, params.token, { first_name: null, last_name: null })
    return sendPage(
      reply,
      'Welcome',
      `<p>${escapeHtml(joined.email)} is now a ${escapeHtml(joined.role)}.</p>`,
    )
  })
}
