import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { Invitation, RemovedMember } from '#contract/members.ts'
import { isRole } from '#contract/scopes.ts'
import { InviteBody, ListedMember, RemovalImpact, RoleBody, Roster } from '#contract/settings.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import { commitEffect } from '../../../api/http/idempotency.ts'
import type { Api, Services } from '../../../api/services.ts'
import { changeRole, previewRemoval, inviteMember, pendingInvitations, removeMember } from '../../members.ts'
import { INVITATION_DAYS } from '../../store/invitations.ts'
import { listMembers, type Member } from '../../store/members.ts'

const DAY_MS = 86_400_000
const Params = z.strictObject({ email: z.string().trim().toLowerCase().min(1) })

/** Adds the settings of members and invitations. */
export function memberSettings(api: Api, services: Services): void {
  defineList(api, services)
  defineInvite(api, services)
  defineRole(api)
  defineRemoval(api)
}

function defineList(api: Api, { sealer, publicUrl, sendMail, config }: Services): void {
  api.get(
    '/members',
    { config: { scope: 'members:write' }, schema: { response: { 200: success(200, Roster) } } },
    async ({ db, caller }) => {
      const [members, invitations] = await Promise.all([
        listMembers(db, caller.orgId),
        pendingInvitations(db, caller.orgId, sealer, publicUrl()),
      ])
      return ok({
        members: members.map((member) => asListed(member, caller.email)),
        invitations: invitations.map(({ is_mailed, ...invitation }) => ({
          ...invitation,
          // Anybody with the link joins as the invited address. So inviters do not see it if the server can
          // mail it.
          link: sendMail === null && !is_mailed ? invitation.link : null,
          created_at: invitation.created_at.toISOString(),
          expires_at: new Date(invitation.created_at.getTime() + INVITATION_DAYS * DAY_MS).toISOString(),
        })),
        member_limit: config.LOAM_MEMBER_LIMIT,
        mail: sendMail !== null,
      })
    },
  )
}

function defineInvite(api: Api, { sealer, publicUrl, sendMail, config, log }: Services): void {
  api.post(
    '/members',
    {
      config: { scope: 'members:write', body: 'control', callsOut: 'committed' },
      schema: { body: InviteBody, response: { 201: success(201, Invitation) } },
    },
    async (request) => {
      const { caller, db, body } = request
      const invited = (email_sent: boolean) => created({ ...body, status: 'pending' as const, email_sent })
      const { email_sent } = await inviteMember(
        {
          db,
          actor: caller,
          orgId: caller.orgId,
          sealer,
          sendMail,
          publicUrl: publicUrl(),
          mailPerHour: config.LOAM_MAIL_PER_HOUR,
          memberLimit: config.LOAM_MEMBER_LIMIT,
          log,
          onRecorded: () => commitEffect(request, 201, invited(false)),
        },
        body,
      )
      return invited(email_sent)
    },
  )
}

function defineRole(api: Api): void {
  api.patch(
    '/members/:email',
    {
      config: { scope: 'members:write', body: 'control' },
      schema: { params: Params, body: RoleBody, response: { 200: success(200, ListedMember) } },
    },
    async ({ db, caller, params, body }) => {
      const changed = await changeRole(db, caller, caller.orgId, { email: params.email, role: body.role })
      return ok(asListed(changed, caller.email))
    },
  )
}

function defineRemoval(api: Api): void {
  api.get(
    '/members/:email/impact',
    {
      config: { scope: 'members:write' },
      schema: { params: Params, response: { 200: success(200, RemovalImpact) } },
    },
    async ({ db, caller, params: { email } }) =>
      ok({ email, warnings: await previewRemoval(db, caller.orgId, email) }),
  )

  api.delete(
    '/members/:email',
    {
      config: { scope: 'members:write', body: 'control' },
      schema: { params: Params, response: { 200: success(200, RemovedMember) } },
    },
    async ({ db, caller, params: { email } }) =>
      ok({ email, ...(await removeMember(db, caller, caller.orgId, email)) }),
  )
}

function asListed(member: Member, you: string) {
  return {
    email: member.email,
    first_name: member.first_name,
    last_name: member.last_name,
    role: isRole(member.role) ? member.role : ('user' as const),
    is_you: member.email === you,
  }
}
