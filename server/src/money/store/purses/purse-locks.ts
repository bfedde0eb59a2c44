import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { lockOrganisation } from '../../../organisation/store/organisations.ts'

/**
 * Locks purses in the order of their ids, then the organisation; shares are locked last. Settlements lock flights and then
 * only shares, so no deadlock is possible. Returns the ids of the purses that exist.
 */
export async function lockPurses(db: Db, orgId: string, purseIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(${purseIds}::uuid[])
    order by purse_id for no key update`.execute(db)
  await lockOrganisation(db, orgId)
  return rows.map(({ purse_id }) => purse_id)
}
