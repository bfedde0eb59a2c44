import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { lockOrganisation } from '../../../organisation/store/organisations.ts'

/**
 * Purses are locked in the order of their ids, the organisation after them, shares last. Settlements lock flights and then
 * shares only, so nobody waits in a circle. Answers those that are there.
 */
export async function lockPurses(db: Db, orgId: string, purseIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(${purseIds}::uuid[])
    order by purse_id for no key update`.execute(db)
  await lockOrganisation(db, orgId)
  return rows.map(({ purse_id }) => purse_id)
}
