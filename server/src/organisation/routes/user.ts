import { success } from '#contract/envelope.ts'
import { isRole } from '#contract/scopes.ts'
import { Knowledge, KnowledgeBody, User } from '#contract/user.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { inTransaction } from '../../database/connection/db.ts'
import { AppError } from '../../lib/errors.ts'
import { recordAudit } from '../store/audit.ts'
import { listMembers } from '../store/members.ts'
import { getKnowledge, putKnowledge } from '../store/organisations.ts'

export function userRoutes(api: Api): void {
  api.get(
    '/user',
    {
      config: { scope: 'any key', narrowedKeys: 'allowed' },
      schema: { tags: ['User'], summary: 'Get the calling user', response: { 200: success(200, User) } },
    },
    async ({ caller, db }, reply) => {
      const members = await listMembers(db, caller.orgId)
      const self = members.find((member) => member.member_id === caller.memberId)
      if (self === undefined)
        throw new AppError('Unauthorized', 'The owner of this API key is no longer a member')
      void reply.header('x-loam-scopes', [...caller.scopes].join(', '))
      return ok({
        email: self.email,
        first_name: self.first_name,
        last_name: self.last_name,
        role: isRole(self.role) ? self.role : ('member' as const),
        org_id: caller.orgId,
        org_members: { count: members.length, emails: members.map((member) => member.email) },
      })
    },
  )

  api.get(
    '/user/knowledge',
    {
      config: { scope: 'any key', narrowedKeys: 'allowed' },
      schema: {
        tags: ['User'],
        summary: 'Get the organisation knowledge file',
        response: { 200: success(200, Knowledge) },
      },
    },
    async ({ caller, db }) => ok(viewKnowledge(await getKnowledge(db, caller.orgId))),
  )

  api.put(
    '/user/knowledge',
    {
      config: { scope: 'any key', body: 'knowledge' },
      schema: {
        tags: ['User'],
        summary: 'Replace the organisation knowledge file',
        body: KnowledgeBody,
        response: { 200: success(200, Knowledge) },
      },
    },
    async ({ caller, db, body }) => {
      const written = await inTransaction(db, async (trx) => {
        await recordAudit(trx, caller.orgId, caller, {
          action: 'knowledge.written',
          target: caller.orgId,
          details: { characters: body.content.length },
        })
        return putKnowledge(trx, caller.orgId, body.content)
      })
      return ok(viewKnowledge(written))
    },
  )
}

function viewKnowledge(stored: { content: string; updated_at: Date } | undefined) {
  return stored === undefined
    ? { content: null, exists: false, updated_at: null }
    : { content: stored.content, exists: true, updated_at: stored.updated_at.toISOString() }
}
