import { canonicalScope, type Scope, scopesOfRole } from '#contract/scopes.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, invalid, notFound, validationError } from '../lib/errors.ts'
import { isUuid, newId } from '../lib/ids.ts'
import { didYouMean } from '../lib/nearest-name.ts'
import { hashToken, newKey } from '../lib/security/keys.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import {
  countActiveKeys,
  expireKey,
  findKey,
  insertKey,
  type KeyRecord,
  revokeKey,
  wasRotated,
} from './store/keys.ts'
import type { Member } from './store/members.ts'

/** The limit of active keys of an organisation: each has a rate limit of its own. */
const MAX_KEYS = 1000

export type KeyOptions = {
  scopes?: string[]
  allowedWorkflowIds?: string[]
  perMinute?: number
  expiresAt?: Date
}

export type IssuedKey = { record: KeyRecord; key: string; scopes: Scope[] }

/** Issues a key that acts for `member`. The plain key is only in the answer. */
export async function createKey(
  db: Db,
  actor: Actor,
  { orgId, member }: { orgId: string; member: Pick<Member, 'member_id' | 'email' | 'role'> },
  options: KeyOptions,
): Promise<IssuedKey> {
  const scopes = options.scopes === undefined ? null : checkScopes(options.scopes, member.role)
  const workflows = options.allowedWorkflowIds ?? null
  const wrong = workflows?.filter((id) => !isUuid(id)) ?? []
  if (wrong.length > 0)
    throw invalid('allowed_workflow_ids', `must be UUIDs; these are not: ${wrong.join(', ')}`)
  if (options.expiresAt !== undefined && options.expiresAt.getTime() <= Date.now()) {
    throw invalid('expires', 'must be in the future')
  }
  return inTransaction(db, async (trx) => {
    const issued = await issue(trx, {
      org_id: orgId,
      member_id: member.member_id,
      scopes,
      allowed_workflow_ids: workflows,
      per_minute: options.perMinute ?? null,
      per_day: null,
      expires_at: options.expiresAt ?? null,
      rotated_from: null,
    })
    await requireRoom(trx, orgId)
    await recordAudit(trx, orgId, actor, {
      action: 'key.created',
      target: issued.record.key_id,
      details: { email: member.email, scopes, allowed_workflow_ids: workflows },
    })
    return { ...issued, scopes: scopes ?? [...scopesOfRole(member.role)] }
  })
}

/** Issues a new key with the same rights. The old one stays valid for `overlapMs`. */
export async function rotateKey(
  db: Db,
  actor: Actor,
  keyId: string,
  overlapMs: number,
): Promise<Omit<IssuedKey, 'scopes'> & { oldExpiresAt: Date }> {
  const old = await requireActiveKey(db, keyId)
  return inTransaction(db, async (trx) => {
    if (await wasRotated(trx, old))
      throw new AppError('Conflict', 'The key was rotated already; rotate the new one')
    const issued = await issue(trx, { ...old, rotated_from: old.key_id })
    const end = new Date(Math.min(Date.now() + overlapMs, old.expires_at?.getTime() ?? Infinity))
    if (overlapMs > 0) await expireKey(trx, keyId, end)
    else await revokeKey(trx, keyId)
    await requireRoom(trx, old.org_id)
    await recordAudit(trx, old.org_id, actor, {
      action: 'key.rotated',
      target: keyId,
      details: { new_key_id: issued.record.key_id, old_expires_at: end.toISOString() },
    })
    return { ...issued, oldExpiresAt: end }
  })
}

async function requireRoom(trx: Db, orgId: string): Promise<void> {
  if ((await countActiveKeys(trx, orgId)) <= MAX_KEYS) return
  throw new AppError(
    'Conflict',
    `An organisation can have at most ${MAX_KEYS} active keys, including rotated keys that are still valid; revoke some first`,
  )
}

export async function endKey(db: Db, actor: Actor, keyId: string): Promise<KeyRecord> {
  const key = await requireActiveKey(db, keyId)
  await inTransaction(db, async (trx) => {
    await revokeKey(trx, keyId)
    await recordAudit(trx, key.org_id, actor, { action: 'key.revoked', target: keyId })
  })
  return key
}

async function requireActiveKey(db: Db, keyId: string): Promise<KeyRecord> {
  if (!isUuid(keyId)) throw invalid('key_id', 'must be a UUID, as `loam key list` shows it')
  const key = await findKey(db, keyId)
  if (key === undefined) throw notFound('Key')
  if (key.revoked_at !== null) throw new AppError('Conflict', 'The key is revoked already')
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) {
    throw new AppError('Conflict', 'The key has expired; create a new one')
  }
  return key
}

async function issue(
  db: Db,
  attributes: Pick<
    KeyRecord,
    | 'org_id'
    | 'member_id'
    | 'scopes'
    | 'allowed_workflow_ids'
    | 'per_minute'
    | 'per_day'
    | 'expires_at'
    | 'rotated_from'
  >,
): Promise<{ record: KeyRecord; key: string }> {
  const key = newKey()
  const { org_id, member_id, scopes, allowed_workflow_ids, per_minute, per_day, expires_at, rotated_from } =
    attributes
  const record = await insertKey(db, {
    org_id,
    key_id: newId(),
    member_id,
    hash: hashToken(key),
    last4: key.slice(-4),
    scopes,
    allowed_workflow_ids,
    per_minute,
    per_day,
    expires_at,
    rotated_from,
  })
  return { record, key }
}

function checkScopes(names: string[], role: string): Scope[] {
  const permitted = scopesOfRole(role)
  const wrong: string[] = []
  const scopes = names.flatMap((name) => {
    const scope = canonicalScope(name)
    if (scope === undefined)
      wrong.push(
        `unknown scope ${name}${didYouMean(name, permitted)}; the scopes of this role are ${permitted.join(', ')}`,
      )
    else if (!permitted.includes(scope)) wrong.push(`the role ${role} does not permit ${name}`)
    return scope === undefined ? [] : [scope]
  })
  if (wrong.length > 0) throw validationError(wrong.map((message) => ({ field: 'scopes', message })))
  return [...new Set(scopes)]
}
