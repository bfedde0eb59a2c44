import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { announceEnds } from './keys.ts'

/** A session ends if it is not used for this number of days. */
export const IDLE_DAYS = 7

/** The maximum lifetime of a session in days, however often it is used. */
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

const isActive = sql<SqlBool>`is_session and revoked_at is null and expires_at > now()
  and last_used_at > now() - make_interval(days => ${sql.lit(IDLE_DAYS)})`

/** Lists the active sessions of a member, the last used first. */
export async function listSessions(db: Db, orgId: string, memberId: string): Promise<SessionRecord[]> {
  return db
    .selectFrom('api_keys')
    .select(FIELDS)
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where(isActive)
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

/** Returns the address that was proved when the session with this token began, or undefined. */
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
    .where(isActive)
    .executeTakeFirst()
  return found?.email
}

/** Ends active sessions of a member: the one named, or all but one. Returns the ids of those it ended. */
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
    .where(isActive)
    .returning('key_id')
    .execute()
  const ids = revoked.map(({ key_id }) => key_id)
  await announceEnds(db, ids)
  return ids
}

/** Ends the session whose token has this hash, because a new one replaces it. */
export async function revokeSessionByToken(db: Db, hash: Buffer): Promise<void> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql`now()` })
    .where('hash', '=', hash)
    .where(isActive)
    .returning('key_id')
    .executeTakeFirst()
  if (revoked !== undefined) await announceEnds(db, [revoked.key_id])
}
