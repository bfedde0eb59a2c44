import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** The number of days for which an invitation can be accepted. */
export const INVITATION_DAYS = 14
export const isOpen = sql<SqlBool>`invitations.created_at > now() - make_interval(days => ${sql.lit(INVITATION_DAYS)})`

/** Deletes expired invitations, which frees their seats. */
export async function forgetOldInvitations(db: Db, orgId: string): Promise<void> {
  await db
    .deleteFrom('invitations')
    .where('org_id', '=', orgId)
    .where(sql<SqlBool>`not ${isOpen}`)
    .execute()
}

export type Invitation = {
  email: string
  role: string
  created_at: Date
  email_sent: boolean
  is_mailed: boolean
}

export async function insertInvitation(
  db: Db,
  orgId: string,
  invitation: { email: string; role: string; tokenHash: Buffer; tokenSealed: string; invitedBy: string },
): Promise<void> {
  await db
    .insertInto('invitations')
    .values({
      org_id: orgId,
      email: invitation.email,
      role: invitation.role,
      token_hash: invitation.tokenHash,
      token_sealed: invitation.tokenSealed,
      invited_by: invitation.invitedBy,
    })
    .execute()
}

/** Records that the link was mailed and is only in the mailbox of the address. */
export async function markInvitationSent(db: Db, orgId: string, email: string): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ email_sent: true, is_mailed: true })
    .where('org_id', '=', orgId)
    .where('email', '=', email)
    .execute()
}

export async function hasInvitation(db: Db, orgId: string, email: string): Promise<boolean> {
  const found = await db
    .selectFrom('invitations')
    .select('email')
    .where('org_id', '=', orgId)
    .where('email', '=', email)
    .executeTakeFirst()
  return found !== undefined
}

export async function listInvitations(
  db: Db,
  orgId: string,
): Promise<(Invitation & { token_sealed: string })[]> {
  return db
    .selectFrom('invitations')
    .select(['email', 'role', 'created_at', 'email_sent', 'is_mailed', 'token_sealed'])
    .where('org_id', '=', orgId)
    .where(isOpen)
    .orderBy('email')
    .execute()
}

/** Deletes an open invitation and returns it, or undefined if there is none. */
export async function consumeInvitation(
  db: Db,
  by: { tokenHash: Buffer } | { orgId: string; email: string },
): Promise<{ org_id: string; email: string; role: string; is_mailed: boolean } | undefined> {
  const statement = db
    .deleteFrom('invitations')
    .where(isOpen)
    .returning(['org_id', 'email', 'role', 'is_mailed'])
  return 'tokenHash' in by
    ? statement.where('token_hash', '=', by.tokenHash).executeTakeFirst()
    : statement.where('org_id', '=', by.orgId).where('email', '=', by.email).executeTakeFirst()
}

/** Deletes an invitation, expired or not. Returns false if there is none. */
export async function deleteInvitation(db: Db, orgId: string, email: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('org_id', '=', orgId)
    .where('email', '=', email)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function findInvitationByToken(
  db: Db,
  tokenHash: Buffer,
): Promise<{ org_id: string; org_name: string; email: string; role: string } | undefined> {
  return db
    .selectFrom('invitations')
    .innerJoin('organisations', 'organisations.org_id', 'invitations.org_id')
    .select(['invitations.org_id', 'organisations.name as org_name', 'email', 'role'])
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .executeTakeFirst()
}

export async function countInvitations(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return count
}
