import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { lockOrganisation } from '../../../organisation/store/organisations.ts'

/**
 * Locks limits in the order of their ids, then the organisation; leases are locked last. Settlements lock flights and then
 * only leases, so no deadlock is possible. Returns the ids of the limits that exist.
 */
export async function lockLimits(db: Db, orgId: string, limitIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(${limitIds}::uuid[])
    order by purse_id for no key update`.execute(db)
  await lockOrganisation(db, orgId)
  return rows.map(({ purse_id }) => purse_id)
}
