import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'

export type Member = {
  member_id: string
  email: string
  first_name: string | null
  last_name: string | null
  role: string
}

export type NewMember = Omit<Member, 'member_id'> & {
  /** Says whether the person who joins has proved to own the address. */
  isConfirmed?: boolean
}

const FIELDS = ['member_id', 'email', 'first_name', 'last_name', 'role'] as const

export async function insertMember(
  db: Db,
  orgId: string,
  { isConfirmed = false, ...member }: NewMember,
): Promise<Member> {
  return db
    .insertInto('members')
    .values({
      org_id: orgId,
      member_id: newId(),
      ...member,
      confirmed_at: isConfirmed ? sql`now()` : null,
    })
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

/** Lists all memberships of an address, oldest first. */
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

/**
 * Records that the owner of the address has confirmed the membership. Returns false if it was confirmed
 * before.
 */
export async function confirmMember(db: Db, orgId: string, memberId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('members')
    .set({ confirmed_at: sql`now()` })
    .where('org_id', '=', orgId)
    .where('member_id', '=', memberId)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Lists the members, sorted by address. */
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

/** Counts members and pending invitations: both take a seat of the plan. */
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

/**
 * Locks a member against removal until the transaction ends. Returns false if the member is removed already.
 */
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
