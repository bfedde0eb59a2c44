import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { type Scope, scopesOfRole } from '#contract/scopes.ts'
import {
  IssuedKey,
  type KEY_PRESETS,
  ListedKey,
  NewKeyBody,
  RotatedKey,
  RotateKeyBody,
} from '#contract/settings.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { forbidden, invalid, notFound } from '../../../lib/errors.ts'
import { requireWorkflow } from '../../../sheets/routes/workflows/resources.ts'
import { type ListedKey as KeyEntry, listKeysFor } from '../../key-list.ts'
import { createKey, endKey, type KeyOptions, rotateKey } from '../../keys.ts'
import { findKey } from '../../store/keys.ts'
import { findMember, type Member } from '../../store/members.ts'

const Params = z.strictObject({ key_id: Uuid })
/** The scope needed to have keys: members who may see workflows. The role `user` has none. */
const SCOPE = 'workflows:read' as const

/** Adds the settings of API keys. An administrator sees all keys, other members their own. */
export function keySettings(api: Api): void {
  api.get(
    '/keys',
    { config: { scope: SCOPE }, schema: { response: { 200: success(200, z.array(ListedKey)) } } },
    async ({ db, caller }) => {
      const keys = await listKeysFor(db, caller.orgId, caller.role === 'admin' ? undefined : caller.email)
      return ok(keys.map((key) => viewKey(key, caller)))
    },
  )

  api.post(
    '/keys',
    {
      config: { scope: SCOPE, body: 'control' },
      schema: { body: NewKeyBody, response: { 201: success(201, IssuedKey) } },
    },
    async (request) => {
      const { db, caller, body } = request
      const member = await requireHolder(request, body.email)
      for (const id of body.allowed_workflow_ids ?? []) await requireWorkflow(request, id)
      const { record, key, scopes } = await createKey(
        db,
        caller,
        { orgId: caller.orgId, member },
        toKeyOptions(body, member),
      )
      return created({
        key_id: record.key_id,
        key,
        last4: record.last4,
        scopes,
        expires_at: record.expires_at?.toISOString() ?? null,
      })
    },
  )

  api.post(
    '/keys/:key_id/rotate',
    {
      config: { scope: SCOPE, body: 'control', resource: requireKeyInPath },
      schema: {
        params: Params,
        body: RotateKeyBody.prefault({}),
        response: { 201: success(201, RotatedKey) },
      },
    },
    async ({ db, caller, params, body }) => {
      const { record, key, oldExpiresAt } = await rotateKey(
        db,
        caller,
        params.key_id,
        body.overlap_seconds * 1000,
      )
      return created({
        key_id: record.key_id,
        key,
        last4: record.last4,
        expires_at: record.expires_at?.toISOString() ?? null,
        replaces: params.key_id,
        old_expires_at: oldExpiresAt.toISOString(),
      })
    },
  )

  api.delete(
    '/keys/:key_id',
    {
      config: { scope: SCOPE, body: 'control', resource: requireKeyInPath },
      schema: { params: Params, response: { 200: success(200, z.object({ key_id: Uuid })) } },
    },
    async ({ db, caller, params }) => {
      await endKey(db, caller, params.key_id)
      return ok({ key_id: params.key_id })
    },
  )
}

/** Throws 404 for another member's key, as for a key of another organisation. */
async function requireKeyInPath({ db, caller, params }: FastifyRequest): Promise<void> {
  const key = await findKey(db, (params as z.infer<typeof Params>).key_id)
  const isTheirs =
    key?.org_id === caller.orgId && (caller.role === 'admin' || key.member_id === caller.memberId)
  if (!isTheirs) throw notFound('Key')
}

async function requireHolder({ db, caller }: FastifyRequest, email: string | undefined): Promise<Member> {
  if (email !== undefined && email !== caller.email && caller.role !== 'admin') {
    throw forbidden('Only an administrator may create keys for other members')
  }
  const member = await findMember(db, caller.orgId, email ?? caller.email)
  if (member === undefined) throw invalid('email', 'is not a member of this organisation')
  return member
}

/** The scopes of each preset. `full` means all scopes that the role permits, now and later. */
const PRESETS: Record<(typeof KEY_PRESETS)[number], (scope: Scope) => boolean> = {
  full: () => true,
  read: (scope) => scope.endsWith(':read'),
  run: (scope) => /^(workflows:(read|run|data:read)|shortcuts:(read|run))$/.test(scope),
  custom: () => false,
}

function toKeyOptions(
  { preset, scopes, allowed_workflow_ids, expires_at }: z.infer<typeof NewKeyBody>,
  member: Member,
): KeyOptions {
  if (preset === 'custom' && scopes === undefined)
    throw invalid('scopes', 'is required with the preset custom')
  if (preset !== 'custom' && scopes !== undefined)
    throw invalid('scopes', 'is only allowed with the preset custom')
  const chosen = preset === 'custom' ? scopes : scopesOfRole(member.role).filter(PRESETS[preset])
  return {
    ...(preset === 'full' || chosen === undefined ? {} : { scopes: [...chosen] }),
    ...(allowed_workflow_ids === undefined ? {} : { allowedWorkflowIds: allowed_workflow_ids }),
    ...(expires_at === undefined ? {} : { expiresAt: new Date(expires_at) }),
  }
}

function viewKey(key: KeyEntry, caller: Caller): z.infer<typeof ListedKey> {
  return {
    ...key,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    expires_at: key.expires_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    is_yours: key.email === caller.email,
  }
}
