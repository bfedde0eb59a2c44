import { canonicalScope, type Scope, scopesOfRole } from '#contract/scopes.ts'
import type { Db } from '../database/connection/db.ts'
import { type KeyRecord, listKeys } from './store/keys.ts'
import { listMembers } from './store/members.ts'

export type ListedKey = Pick<
  KeyRecord,
  'key_id' | 'last4' | 'allowed_workflow_ids' | 'created_at' | 'last_used_at' | 'expires_at' | 'revoked_at'
> & {
  email: string | null
  scopes: Scope[]
  rate_limit: number | null
  status: 'active' | 'expired' | 'revoked'
}

/**
 * Returns the keys of an organisation, oldest first, with the scopes that the roles of their owners permit
 * (D11).
 */
export async function listKeysFor(db: Db, orgId: string, email: string | undefined): Promise<ListedKey[]> {
  const keys = await listKeys(db, orgId)
  const members = await listMembers(db, orgId)
  const roles = new Map(members.map((member) => [member.email, member.role]))
  return keys
    .filter((key) => email === undefined || key.email === email)
    .map((key) => ({
      key_id: key.key_id,
      email: key.email,
      last4: key.last4,
      scopes: listEffectiveScopes(key, key.email === null ? '' : (roles.get(key.email) ?? '')),
      allowed_workflow_ids: key.allowed_workflow_ids,
      rate_limit: key.per_minute,
      created_at: key.created_at,
      last_used_at: key.last_used_at,
      expires_at: key.expires_at,
      revoked_at: key.revoked_at,
      status: findStatus(key),
    }))
}

function listEffectiveScopes(key: KeyRecord, role: string): Scope[] {
  const narrowed = key.scopes?.map(canonicalScope)
  return scopesOfRole(role).filter((scope) => narrowed === undefined || narrowed.includes(scope))
}

function findStatus(key: KeyRecord): ListedKey['status'] {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && key.expires_at.getTime() <= Date.now() ? 'expired' : 'active'
}
