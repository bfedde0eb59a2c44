import { sql } from 'kysely'
import type { Store } from '#server/database/connection/db.ts'
import type { Json } from '../plumbing/harness.ts'

/** Returns all records of an organisation, except the times at which its keys were used. */
export async function recordsOf({ system }: Store, orgId: string): Promise<Json> {
  const tables = (await system.introspection.getTables()).filter(
    ({ name, columns }) => name !== 'api_keys' && columns.some((column) => column.name === 'org_id'),
  )
  const records: Json = {}
  for (const { name } of tables) {
    const all = sql`select * from ${sql.table(name)} t where org_id = ${orgId} order by t::text`
    records[name] = (await all.execute(system)).rows
  }
  return records
}
