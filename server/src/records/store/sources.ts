import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** Lists the sources in their declared order. */
export async function listSourceOrder(db: Db, orgId: string): Promise<string[]> {
  const { rows } = await sql<{ source: string }>`
    select source from record_sources where org_id = ${orgId} order by rank`.execute(db)
  return rows.map(({ source }) => source)
}

export async function writeSourceOrder(db: Db, orgId: string, order: readonly string[]): Promise<void> {
  await sql`delete from record_sources where org_id = ${orgId}`.execute(db)
  await sql`
    insert into record_sources (org_id, source, rank)
    select ${orgId}, source, place from unnest(${order}::text[]) with ordinality as t (source, place)`.execute(
    db,
  )
}
