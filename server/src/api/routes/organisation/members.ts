import { success } from '#contract/envelope.ts'
import { AddMemberBody, Invitation, RemovedMember, RemoveMemberQuery } from '#contract/members.ts'
import { inviteMember, removeMember } from '../../../org/members.ts'
import { created, ok } from '../../http/envelope.ts'
import type { Api, Services } from '../../services.ts'

export function memberRoutes(api: Api, services: Services): void {
  api.post(
    '/org/members',
    {
      config: { scope: 'members:write', body: 'control' },
      schema: {
        tags: ['Organisation'],
        summary: 'Invite a member',
        body: AddMemberBody,
        response: { 201: success(201, Invitation) },
      },
    },
    async ({ caller, db, body }) => {
      const { email_sent } = await inviteMember(
        {
          db,
          actor: caller,
          orgId: caller.orgId,
          sealer: services.sealer,
          sendMail: services.sendMail,
          publicUrl: services.publicUrl(),
          memberLimit: services.config.LOAM_MEMBER_LIMIT,
          log: services.log,
        },
        body,
      )
      return created({ ...body, status: 'pending' as const, email_sent })
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
