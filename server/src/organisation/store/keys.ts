import { type Selectable, sql, type SqlBool } from 'kysely'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'

export type KeyRecord = Omit<
  Selectable<Schema['api_keys']>,
  'hash' | 'is_session' | 'is_verified' | 'browser'
>

/** The number of latest keys that are listed even if they have ended. */
const MAX_LATEST = 1000

const FIELDS = [
  'org_id',
  'key_id',
  'member_id',
  'last4',
  'scopes',
  'allowed_workflow_ids',
  'per_minute',
  'per_day',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'rotated_from',
] as const

export type NewKey = Pick<
  KeyRecord,
  | 'org_id'
  | 'key_id'
  | 'member_id'
  | 'last4'
  | 'scopes'
  | 'allowed_workflow_ids'
  | 'per_minute'
  | 'per_day'
  | 'expires_at'
  | 'rotated_from'
> & { hash: Buffer }

export async function insertKey(db: Db, key: NewKey): Promise<KeyRecord> {
  return db.insertInto('api_keys').values(key).returning(FIELDS).executeTakeFirstOrThrow()
}

export async function findKey(db: Db, keyId: string): Promise<KeyRecord | undefined> {
  return db
    .selectFrom('api_keys')
    .select(FIELDS)
    .where('key_id', '=', keyId)
    .where('is_session', '=', false)
    .executeTakeFirst()
}

const isActive = sql<SqlBool>`not api_keys.is_session and api_keys.revoked_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > now())`

/**
 * Counts the active keys. Call it in a transaction: it takes a lock until the commit, so that the count stays
 * true.
 */
export async function countActiveKeys(trx: Db, orgId: string): Promise<number> {
  await takeNamedLock(trx, `keys of ${orgId}`)
  const { count } = await trx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where(isActive)
    .executeTakeFirstOrThrow()
  return count
}

/** Lists all active keys and the latest of the others, in the order of their creation. */
export async function listKeys(db: Db, orgId: string): Promise<(KeyRecord & { email: string | null })[]> {
  return db
    .selectFrom('api_keys')
    .leftJoin('members', (join) =>
      join
        .onRef('members.org_id', '=', 'api_keys.org_id')
        .onRef('members.member_id', '=', 'api_keys.member_id'),
    )
    .select(FIELDS.map((field) => `api_keys.${field}` as const))
    .select('members.email')
    .where('api_keys.org_id', '=', orgId)
    .where('api_keys.is_session', '=', false)
    .where((where) =>
      where.or([
        isActive,
        where(
          'api_keys.key_id',
          'in',
          where
            .selectFrom('api_keys as latest')
            .select('latest.key_id')
            .where('latest.org_id', '=', orgId)
            .where('latest.is_session', '=', false)
            .orderBy('latest.created_at', 'desc')
            .limit(sql.lit(MAX_LATEST)),
        ),
      ]),
    )
    .orderBy('api_keys.created_at')
    .execute()
}

/**
 * Announces, when the transaction commits, that keys or sessions have ended, so that their streams end at
 * once.
 */
export async function announceEnds(db: Db, keyIds: readonly string[]): Promise<void> {
  if (keyIds.length === 0) return
  await sql`select ${announcing(sql`id`)} from unnest(${keyIds}::text[]) id`.execute(db)
}

/** Revokes an active key. Returns false if it was revoked before. */
export async function revokeKey(db: Db, keyId: string): Promise<boolean> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: new Date() })
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .returning('key_id')
    .executeTakeFirst()
  if (revoked !== undefined) await announceEnds(db, [revoked.key_id])
  return revoked !== undefined
}

/** Revokes all keys and sessions of a member. Returns their ids. */
export async function revokeKeysOfMember(db: Db, orgId: string, memberId: string): Promise<string[]> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: new Date() })
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .returning('key_id')
    .execute()
  const ids = revoked.map((key) => key.key_id)
  await announceEnds(db, ids)
  return ids
}

/** Moves the expiry of a key to an earlier time, never to a later one. */
export async function expireKey(db: Db, keyId: string, at: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set((eb) => ({ expires_at: eb.fn<Date>('least', [eb.ref('expires_at'), eb.val(at)]) }))
    .where('key_id', '=', keyId)
    .execute()
}

/** Returns true if the key was rotated before. Locks the key, so that it is rotated only once. */
export async function wasRotated(db: Db, key: Pick<KeyRecord, 'org_id' | 'key_id'>): Promise<boolean> {
  await db.selectFrom('api_keys').select('key_id').where('key_id', '=', key.key_id).forUpdate().execute()
  const successor = await db
    .selectFrom('api_keys')
    .select('key_id')
    .where('org_id', '=', key.org_id)
    .where('rotated_from', '=', key.key_id)
    .executeTakeFirst()
  return successor !== undefined
}
