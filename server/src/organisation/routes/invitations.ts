import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { escapeHtml, sendPage } from '../../api/http/page.ts'
import type { Api, Services } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { acceptInvitation } from '../members.ts'
import { findInvitationByToken } from '../store/invitations.ts'

const Params = z.strictObject({ token: z.string() })

/**
 * Shows the page behind the link in an invitation if no dashboard is built. Opening it accepts nothing,
 * because mail scanners follow links.
 */
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

/** Adds the route that accepts the form of that page. */
export function invitationPages(app: Api, { store }: Services): void {
  const options = {
    config: { scope: 'public' as const, metered: true, body: 'control' as const },
    schema: { hide: true, params: Params },
  }
  // The form has no fields, so its body is ignored.
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
