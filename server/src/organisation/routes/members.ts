import { success } from '#contract/envelope.ts'
import { AddMemberBody, Invitation, RemovedMember, RemoveMemberQuery } from '#contract/members.ts'
import { created, ok } from '../../api/http/envelope.ts'
import { commitEffect } from '../../api/http/idempotency.ts'
import type { Api, Services } from '../../api/services.ts'
import { inviteMember, removeMember } from '../members.ts'

export function memberRoutes(api: Api, services: Services): void {
  api.post(
    '/org/members',
    {
      config: { scope: 'members:write', body: 'control', callsOut: 'committed' },
      schema: {
        tags: ['Organisation'],
        summary: 'Invite a member',
        body: AddMemberBody,
        response: { 201: success(201, Invitation) },
      },
    },
    async (request) => {
      const { caller, db, body } = request
      const invited = (email_sent: boolean) => created({ ...body, status: 'pending' as const, email_sent })
      const { email_sent } = await inviteMember(
        {
          db,
          actor: caller,
          orgId: caller.orgId,
          sealer: services.sealer,
          sendMail: services.sendMail,
          publicUrl: services.publicUrl(),
          mailPerHour: services.config.LOAM_MAIL_PER_HOUR,
          memberLimit: services.config.LOAM_MEMBER_LIMIT,
          log: services.log,
          // The effect is committed first, so that no lock on the seats is held while the mail server is
          // called.
          onRecorded: () => commitEffect(request, 201, invited(false)),
        },
        body,
      )
      return invited(email_sent)
    },
  )

  api.delete(
    '/org/members',
    {
      config: { scope: 'members:write', body: 'control' },
      schema: {
        tags: ['Organisation'],
        summary: 'Remove a member or revoke an invitation',
        querystring: RemoveMemberQuery,
        response: { 200: success(200, RemovedMember) },
      },
    },
    async ({ caller, db, query }) => {
      const removal = await removeMember(db, caller, caller.orgId, query.email)
      return ok({ email: query.email, ...removal })
    },
  )
}
