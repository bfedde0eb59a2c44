import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** A stored lookup. `found` is null if no provider knows the company. */
export type KnownLookup = { subject: string; found: Record<string, unknown> | null; price_millis: number }

export async function findLookups(
  db: Db,
  orgId: string,
  subjects: readonly string[],
): Promise<Map<string, KnownLookup>> {
  if (subjects.length === 0) return new Map()
  const rows = await db
    .selectFrom('source_lookups')
    .select(['subject', 'found', 'price_millis'])
    .where('org_id', '=', orgId)
    .where('subject', 'in', [...subjects])
    .execute()
  return new Map(rows.map((row) => [row.subject, row]))
}

export async function putLookups(db: Db, orgId: string, lookups: readonly KnownLookup[]): Promise<void> {
  if (lookups.length === 0) return
  const sorted = lookups.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  await sql`insert into source_lookups (org_id, subject, found, price_millis)
    select ${orgId}, subject, found, price_millis
    from jsonb_to_recordset(${JSON.stringify(sorted)}::jsonb) as l (subject text, found jsonb, price_millis bigint)
    on conflict (org_id, subject) do nothing`.execute(db)
}

const CHUNK = 5000

/**
 * Deletes a chunk of expired data: visits not resolved within a day with their addresses, and hashes of past days with
 * their salts. Returns true if there may be more.
 */
export async function forgetVisitors(db: Db): Promise<boolean> {
  const { rows: late } = await sql<{ org_id: string; instance_id: string }>`
    delete from source_inbox where ctid = any(array(
      select ctid from source_inbox where at < now() - interval '1 day' limit ${sql.lit(CHUNK)} for update skip locked))
    returning org_id, instance_id`.execute(db)
  if (late.length > 0) {
    await sql`update sources s set unresolved_count = unresolved_count + l.count
      from (select org_id, instance_id, count(*) as count
        from jsonb_to_recordset(${JSON.stringify(late)}::jsonb) as t (org_id uuid, instance_id uuid)
        group by org_id, instance_id order by instance_id) l
      where s.org_id = l.org_id and s.instance_id = l.instance_id`.execute(db)
  }
  await sql`delete from visit_salts where day < (now() at time zone 'UTC')::date`.execute(db)
  let most = late.length
  for (const [table, hours] of [
    ['source_lookups', 24],
    ['source_visits', 48],
  ] as const) {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where at < now() - ${hours} * interval '1 hour' limit ${sql.lit(CHUNK)}))`.execute(
      db,
    )
    most = Math.max(most, Number(numAffectedRows ?? 0n))
  }
  return most >= CHUNK
}
