import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { SheetKey } from '../sheets/sheet-key.ts'
import { isUsableBy } from './connections.ts'
import { isSeenBy } from './env-variables.ts'

export type EnvironmentNames = { env_keys: string[]; providers: string[] }

/** The keys of variables that a sheet sees, and the provider of each connection that it may use. */
export async function listEnvironmentNames(db: Db, sheet: SheetKey): Promise<EnvironmentNames> {
  const { rows } = await sql<EnvironmentNames>`
    select array(select distinct e.key from env_variables e where ${isSeenBy(sheet)}) as env_keys,
      array(select c.provider from connections c where ${isUsableBy(sheet)}) as providers`.execute(db)
  return rows[0] ?? { env_keys: [], providers: [] }
}
