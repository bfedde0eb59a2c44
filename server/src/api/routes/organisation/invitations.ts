import { z } from 'zod'
import { notFound } from '../../../lib/errors.ts'
import { hashToken } from '../../../lib/security/keys.ts'
import { acceptInvitation } from '../../../org/members.ts'
import { findInvitationByToken } from '../../../store/organisation/members.ts'
import type { Api, Services } from '../../services.ts'

const Params = z.strictObject({ token: z.string() })

/** The page behind the link in an invitation. Looking at it accepts nothing: mail scanners follow links. */
export function invitationPages(app: Api, { store }: Services): void {
  const options = { config: { scope: 'public' as const }, schema: { hide: true, params: Params } }
  app.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
    body.resume().on('end', () => done(null, undefined))
  })

  app.get('/invitations/:token', options, async ({ params }, reply) => {
    const invitation = await findInvitationByToken(store.system, hashToken(params.token))
    if (invitation === undefined) throw notFound('Invitation')
    return reply.type('text/html; charset=utf-8').send(
      page(
        `Join ${invitation.org_name}`,
        `<p>${escape(invitation.email)} is invited to <b>${escape(invitation.org_name)}</b> as ${escape(invitation.role)}.</p>
<form method="post"><button>Accept the invitation</button></form>`,
      ),
    )
  })

  app.post('/invitations/:token', options, async ({ params }, reply) => {
    const joined = await acceptInvitation(store.system, params.token, { first_name: null, last_name: null })
    return reply
      .type('text/html; charset=utf-8')
      .send(page('Welcome', `<p>${escape(joined.email)} is now a ${escape(joined.role)}.</p>`))
  })
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)} · Loam</title>
<style>body{font:16px/1.5 system-ui;max-width:28rem;margin:15vh auto;padding:0 1rem;color:#16181d}
button{font:inherit;padding:.5rem 1rem;border:0;border-radius:6px;background:#4f46e5;color:#fff;cursor:pointer}</style>
<h1>${escape(title)}</h1>${body}</html>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
