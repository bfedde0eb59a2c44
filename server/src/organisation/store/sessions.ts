import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { announceEnds } from './keys.ts'

/** A session ends when it is not used for this long. */
export const IDLE_DAYS = 7

/** A session lasts this long however often it is used. */
const SESSION_DAYS = 30

export type SessionRecord = {
  key_id: string
  browser: string | null
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  is_verified: boolean
}

const FIELDS = ['key_id', 'browser', 'created_at', 'last_used_at', 'expires_at', 'is_verified'] as const

export async function insertSession(
  db: Db,
  session: {
    org_id: string
    key_id: string
    member_id: string
    hash: Buffer
    browser: string
    is_verified: boolean
  },
): Promise<SessionRecord> {
  return db
    .insertInto('api_keys')
    .values({
      ...session,
      last4: '',
      scopes: null,
      allowed_workflow_ids: null,
      per_minute: null,
      per_day: null,
      rotated_from: null,
      is_session: true,
      last_used_at: sql`now()`,
      expires_at: sql`now() + make_interval(hours => ${sql.lit(SESSION_DAYS * 24)})`,
    })
    .returning(FIELDS)
    .executeTakeFirstOrThrow()
}

const isLiving = sql<SqlBool>`is_session and revoked_at is null and expires_at > now()
  and last_used_at > now() - make_interval(days => ${sql.lit(IDLE_DAYS)})`

/** Those of a member that can still be used, the one used last first. */
export async function listSessions(db: Db, orgId: string, memberId: string): Promise<SessionRecord[]> {
  return db
    .selectFrom('api_keys')
    .select(FIELDS)
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where(isLiving)
    .orderBy('last_used_at', 'desc')
    .orderBy('key_id')
    .execute()
}

export async function findSession(
  db: Db,
  orgId: string,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  return db
    .selectFrom('api_keys')
    .select(FIELDS)
    .where('org_id', '=', orgId)
    .where('key_id', '=', sessionId)
    .where('is_session', '=', true)
    .executeTakeFirst()
}

/** Returns the address that the session with this token was begun with a proof of; undefined when there is none. */
export async function findVerifiedEmail(db: Db, hash: Buffer): Promise<string | undefined> {
  const found = await db
    .selectFrom('api_keys')
    .innerJoin('members', (join) =>
      join
        .onRef('members.org_id', '=', 'api_keys.org_id')
        .onRef('members.member_id', '=', 'api_keys.member_id'),
    )
    .select('email')
    .where('hash', '=', hash)
    .where('is_verified', '=', true)
    .where(isLiving)
    .executeTakeFirst()
  return found?.email
}

/** Ends living sessions of a member: the ones named, or all but one. Answers those that it ended. */
export async function revokeSessions(
  db: Db,
  { orgId, memberId }: { orgId: string; memberId: string },
  which: { only: string } | { allBut: string },
): Promise<string[]> {
  const [operator, id] = 'only' in which ? (['=', which.only] as const) : (['!=', which.allBut] as const)
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql`now()` })
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where('key_id', operator, id)
    .where(isLiving)
    .returning('key_id')
    .execute()
  const ids = revoked.map(({ key_id }) => key_id)
  await announceEnds(db, ids)
  return ids
}

/** Ends the session whose token has this hash, which a new one takes the place of. */
export async function revokeSessionByToken(db: Db, hash: Buffer): Promise<void> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql`now()` })
    .where('hash', '=', hash)
    .where(isLiving)
    .returning('key_id')
    .executeTakeFirst()
  if (revoked !== undefined) await announceEnds(db, [revoked.key_id])
}
