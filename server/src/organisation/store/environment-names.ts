import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { isUsableBy } from './connections.ts'
import { isSeenBy } from './env-variables.ts'

export type EnvironmentNames = {
  env_keys: string[]
  connections: { provider: string; id: string; name: string }[]
}

/** Returns the keys of the variables that a sheet sees, and the connections that it may use. */
export async function listEnvironmentNames(db: Db, sheet: SheetKey): Promise<EnvironmentNames> {
  const { rows } = await sql<EnvironmentNames>`
    select array(select distinct e.key from env_variables e where ${isSeenBy(sheet)}) as env_keys,
      array(
        select jsonb_build_object('provider', c.provider, 'id', c.connection_id, 'name', c.name)
        from connections c where ${isUsableBy(sheet)}
      ) as connections`.execute(db)
  return rows[0] ?? { env_keys: [], connections: [] }
}
