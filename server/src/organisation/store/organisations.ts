import type { Db } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import { newId } from '../../lib/ids.ts'

export async function insertOrganisation(db: Db, name: string): Promise<string> {
  const orgId = newId()
  await db.insertInto('organisations').values({ org_id: orgId, name }).execute()
  return orgId
}

export async function listOrganisations(db: Db): Promise<{ org_id: string; name: string }[]> {
  return db.selectFrom('organisations').select(['org_id', 'name']).orderBy('created_at').execute()
}

/** Returns true if this installation has more than one organisation. */
export async function hasSeveralOrganisations(db: Db): Promise<boolean> {
  const found = await db.selectFrom('organisations').select('org_id').limit(2).execute()
  return found.length > 1
}

export async function getOrganisation(db: Db, orgId: string): Promise<{ name: string }> {
  return db.selectFrom('organisations').select('name').where('org_id', '=', orgId).executeTakeFirstOrThrow()
}

/** Lists the organisations that an address is a member of. */
export async function listOrganisationsOf(
  db: Db,
  email: string,
): Promise<{ org_id: string; name: string }[]> {
  return db
    .selectFrom('organisations')
    .innerJoin('members', 'members.org_id', 'organisations.org_id')
    .select(['organisations.org_id', 'organisations.name'])
    .where('members.email', '=', email)
    .orderBy('organisations.created_at')
    .execute()
}

/**
 * Serialises changes of an organisation's members. It does not lock the organisation's row: runs and
 * deletions of rows lock that row last, while removing a member goes on to lock workflows, which they lock
 * first.
 */
export async function lockMembers(db: Db, orgId: string): Promise<{ name: string }> {
  await takeNamedLock(db, `members of ${orgId}`)
  return db.selectFrom('organisations').select('name').where('org_id', '=', orgId).executeTakeFirstOrThrow()
}

/** Locks the organisation's row, which serialises changes of its credits. */
export async function lockOrganisation(db: Db, orgId: string): Promise<{ credits_millis: number }> {
  return db
    .selectFrom('organisations')
    .select('credits_millis')
    .where('org_id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

export async function getKnowledge(
  db: Db,
  orgId: string,
): Promise<{ content: string; updated_at: Date } | undefined> {
  return db
    .selectFrom('org_knowledge')
    .select(['content', 'updated_at'])
    .where('org_id', '=', orgId)
    .executeTakeFirst()
}

export async function putKnowledge(
  db: Db,
  orgId: string,
  content: string,
): Promise<{ content: string; updated_at: Date }> {
  const updated_at = new Date()
  return db
    .insertInto('org_knowledge')
    .values({ org_id: orgId, content, updated_at })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ content, updated_at }))
    .returning(['content', 'updated_at'])
    .executeTakeFirstOrThrow()
}

/**
 * Locks the organisation's row in shared mode, as an audit entry does, before any lock inside the
 * organisation is taken.
 */
export async function shareLockOrganisation(db: Db, orgId: string): Promise<void> {
  await db.selectFrom('organisations').select('org_id').where('org_id', '=', orgId).forKeyShare().execute()
}
