import { type SqlBool, sql } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'

export type Member = {
  member_id: string
  email: string
  first_name: string | null
  last_name: string | null
  role: string
}

export type NewMember = Omit<Member, 'member_id'>

const FIELDS = ['member_id', 'email', 'first_name', 'last_name', 'role'] as const

export async function insertMember(db: Db, orgId: string, member: NewMember): Promise<Member> {
  return db
    .insertInto('members')
    .values({ org_id: orgId, member_id: newId(), ...member })
    .returning(FIELDS)
    .executeTakeFirstOrThrow()
}

export async function findMember(db: Db, orgId: string, email: string): Promise<Member | undefined> {
  return db
    .selectFrom('members')
    .select(FIELDS)
    .where('org_id', '=', orgId)
    .where('email', '=', email)
    .executeTakeFirst()
}

export async function findMemberById(db: Db, orgId: string, memberId: string): Promise<Member | undefined> {
  return db
    .selectFrom('members')
    .select(FIELDS)
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .executeTakeFirst()
}

/** Everything that somebody is a member of, the oldest membership first. */
export async function listMembershipsOf(
  db: Db,
  email: string,
): Promise<(Member & { org_id: string; org_name: string })[]> {
  return db
    .selectFrom('members')
    .innerJoin('organisations', 'organisations.org_id', 'members.org_id')
    .select(FIELDS)
    .select(['members.org_id', 'organisations.name as org_name'])
    .where('email', '=', email)
    .orderBy('joined_at')
    .orderBy('members.org_id')
    .execute()
}

/** The roster, sorted by address. */
export async function listMembers(db: Db, orgId: string): Promise<Member[]> {
  const members = await db.selectFrom('members').select(FIELDS).where('org_id', '=', orgId).execute()
  return members.sort((a, b) => (a.email < b.email ? -1 : 1))
}

export async function updateRole(db: Db, orgId: string, memberId: string, role: string): Promise<void> {
  await db
    .updateTable('members')
    .set({ role })
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .execute()
}

export async function deleteMember(db: Db, orgId: string, memberId: string): Promise<void> {
  await db.deleteFrom('members').where('org_id', '=', orgId).where('member_id', '=', memberId).execute()
}

/** How long an invitation can be accepted. */
export const INVITATION_DAYS = 14
const isOpen = sql<SqlBool>`invitations.created_at > now() - make_interval(days => ${sql.lit(INVITATION_DAYS)})`

/** Gives back the seats of invitations that nobody accepted in time. */
export async function forgetOldInvitations(db: Db, orgId: string): Promise<void> {
  await db
    .deleteFrom('invitations')
    .where('org_id', '=', orgId)
    .where(sql<SqlBool>`not ${isOpen}`)
    .execute()
}

export type Invitation = { email: string; role: string; created_at: Date; email_sent: boolean }

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

export async function markInvitationSent(db: Db, orgId: string, email: string): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ email_sent: true })
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
    .select(['email', 'role', 'created_at', 'email_sent', 'token_sealed'])
    .where('org_id', '=', orgId)
    .where(isOpen)
    .orderBy('email')
    .execute()
}

/** The organisations that an address is invited to, the oldest invitation first. */
export async function listInvitationsOf(db: Db, email: string): Promise<{ org_id: string }[]> {
  return db
    .selectFrom('invitations')
    .select('org_id')
    .where('email', '=', email)
    .where(isOpen)
    .orderBy('created_at')
    .execute()
}

/** Removes the invitation and answers what it promised; undefined when there was none. */
export async function consumeInvitation(
  db: Db,
  by: { tokenHash: Buffer } | { orgId: string; email: string },
): Promise<{ org_id: string; email: string; role: string } | undefined> {
  const statement = db.deleteFrom('invitations').returning(['org_id', 'email', 'role'])
  return 'tokenHash' in by
    ? statement.where('token_hash', '=', by.tokenHash).where(isOpen).executeTakeFirst()
    : statement.where('org_id', '=', by.orgId).where('email', '=', by.email).executeTakeFirst()
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

/** Members and pending invitations: what counts against the plan's seats. */
export async function countInvitations(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom('invitations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return count
}

export async function countSeats(db: Db, orgId: string): Promise<number> {
  const { seats } = await db
    .selectNoFrom((eb) => [
      eb(
        eb.selectFrom('members').select(eb.fn.countAll<number>().as('n')).where('org_id', '=', orgId),
        '+',
        eb.selectFrom('invitations').select(eb.fn.countAll<number>().as('n')).where('org_id', '=', orgId),
      ).as('seats'),
    ])
    .executeTakeFirstOrThrow()
  return Number(seats)
}

/** Keeps a member from being removed until the transaction ends; false when that has happened already. */
export async function shareLockMember(db: Db, orgId: string, memberId: string): Promise<boolean> {
  const held = await db
    .selectFrom('members')
    .select('member_id')
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .forKeyShare()
    .executeTakeFirst()
  return held !== undefined
}
