import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

export type OrganisationHealth = {
  database: string
  workers: number
  rows_in_the_air: number
  runs_under_way: number
  seats: number
}

/** Reads what an administrator needs first when something is slow. */
export async function readHealth(db: Db, orgId: string): Promise<OrganisationHealth> {
  const { rows } = await sql<OrganisationHealth>`select
    current_setting('server_version') as database,
    (select count(*)::int from workers where beat_at > now() - interval '10 seconds') as workers,
    (select count(*)::int from flights where org_id = ${orgId}) as rows_in_the_air,
    (select count(*)::int from runs where org_id = ${orgId} and state = 'running') as runs_under_way,
    (select count(*)::int from members where org_id = ${orgId})
      + (select count(*)::int from invitations where org_id = ${orgId}) as seats`.execute(db)
  const [health] = rows
  if (health === undefined) throw new Error('the health query returned no row')
  return health
}
