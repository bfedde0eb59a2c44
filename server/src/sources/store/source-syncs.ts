import { type Selectable, sql } from 'kysely'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import type { MappedField, OnChange } from '../../database/tables/source-tables.ts'
import type { SourceKey } from './sources.ts'

export type SyncRecord = Selectable<Schema['source_syncs']>
export type SyncKey = SourceKey & { workflow_id: string }
export type { MappedField, OnChange }

export type NewSync = SyncKey & {
  mapping: MappedField[]
  push_existing: boolean
  on_change: OnChange
  created_by: string
  /** The daily credit limit of the rows that the sync starts. */
  max_credits_millis: number | null
}

/**
 * Connects a source with a workflow, or replaces its mapping. Delivery restarts from the beginning if existing records
 * are to be pushed; a record that was delivered before is not delivered again.
 */
export async function putSync(db: Db, sync: NewSync): Promise<void> {
  const { org_id, instance_id, workflow_id, push_existing } = sync
  const mapping = JSON.stringify(sync.mapping)
  await sql`
    insert into source_syncs as y
      (org_id, instance_id, workflow_id, mapping, push_existing, on_change, after_seq, position, created_by,
        max_credits_millis)
    select ${org_id}, ${instance_id}, ${workflow_id}, ${mapping}::jsonb, ${push_existing}::boolean, ${sync.on_change},
      case when ${push_existing}::boolean then 0 else lead_count end,
      case when ${push_existing}::boolean then 0 else change_count end, ${sync.created_by}, ${sync.max_credits_millis}::bigint
    from sources where org_id = ${org_id} and instance_id = ${instance_id}
    on conflict (org_id, instance_id, workflow_id) do update set mapping = excluded.mapping,
      push_existing = excluded.push_existing, on_change = excluded.on_change, max_credits_millis = excluded.max_credits_millis, updated_at = now(),
      after_seq = case when excluded.push_existing then 0 else y.after_seq end,
      position = case when excluded.push_existing then 0 else y.position end`.execute(db)
}

export async function listSyncs(db: Db, { org_id, instance_id }: SourceKey): Promise<SyncRecord[]> {
  return db
    .selectFrom('source_syncs')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .orderBy('created_at')
    .execute()
}

/** Locks a sync until the transaction ends. Returns undefined if it no longer exists. */
export async function lockSync(
  db: Db,
  { org_id, instance_id, workflow_id }: SyncKey,
): Promise<SyncRecord | undefined> {
  return db
    .selectFrom('source_syncs')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('workflow_id', '=', workflow_id)
    .forUpdate()
    .executeTakeFirst()
}

/** Deletes a sync whose workflow no longer exists, with its deliveries. */
export async function deleteSync(db: Db, { org_id, instance_id, workflow_id }: SyncKey): Promise<void> {
  for (const table of ['source_syncs', 'source_deliveries'] as const) {
    await db
      .deleteFrom(table)
      .where('org_id', '=', org_id)
      .where('instance_id', '=', instance_id)
      .where('workflow_id', '=', workflow_id)
      .execute()
  }
}

export type Change = { key: string; seq: number; change_no: number; data: string; row_id: string | null }

/** The maximum size in JSON of the changes listed at once. A single change may be larger. */
const MAX_CHANGES_BYTES = 32 * 1024 * 1024
/** An upper bound for a record's size without reading it: one compressed byte may hold up to 256 bytes. */
const BYTES_AT_MOST = sql`least(${sql.lit(MAX_ROW_BYTES)}, pg_column_size(data)
  * case when pg_column_compression(data) is null then 1 else 256 end)`

/**
 * Lists changes after the position of a sync, in order, each with the row that its record already has. Large changes
 * are cut to what a process has room for; `more` tells whether there are others.
 */
export async function listChanges(
  db: Db,
  sync: SyncRecord,
  limit: number,
): Promise<{ changes: Change[]; more: boolean }> {
  const { org_id, instance_id, workflow_id, position } = sync
  const { rows } = await sql<Change & { found: number }>`
    select r.key, r.seq, r.change_no, r.data::text as data, d.row_id, r.found
    from (
      select key, seq, change_no, data, count(*) over () as found, row_number() over sequence as n,
        sum(${BYTES_AT_MOST}) over sequence as bytes
      from (
        select key, seq, change_no, data from source_records
        where org_id = ${org_id} and instance_id = ${instance_id} and change_no > ${position}::bigint
        order by change_no limit ${sql.lit(limit)}
      ) next
      window sequence as (order by change_no rows unbounded preceding)
    ) r
    left join lateral (
      select row_id from source_deliveries where org_id = ${org_id} and instance_id = ${instance_id}
        and workflow_id = ${workflow_id} and key = r.key limit 1
    ) d on true
    where r.n = 1 or r.bytes <= ${MAX_CHANGES_BYTES}
    order by r.change_no`.execute(db)
  const found = rows[0]?.found ?? 0
  return { changes: rows, more: found === limit || rows.length < found }
}

export async function insertDeliveries(
  db: Db,
  { org_id, instance_id, workflow_id }: SyncKey,
  delivered: { keys: readonly string[]; rowIds: readonly string[] },
): Promise<void> {
  await sql`insert into source_deliveries (org_id, instance_id, workflow_id, key, row_id)
    select ${org_id}, ${instance_id}, ${workflow_id}, k, r
    from unnest(${delivered.keys}::text[], ${delivered.rowIds}::uuid[]) as t (k, r)`.execute(db)
}

export async function moveSync(
  db: Db,
  { org_id, instance_id, workflow_id }: SyncKey,
  { position, delivered }: { position: number; delivered: number },
): Promise<void> {
  await db
    .updateTable('source_syncs')
    .set({
      position,
      seen_change: sql<number>`greatest(seen_change, ${position}::bigint)`,
      delivered: sql<number>`delivered + ${delivered}`,
    })
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('workflow_id', '=', workflow_id)
    .execute()
}

/** Writes new values into rows that still exist and returns those rows. Columns outside the mapping stay unchanged. */
export async function updateRowData(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  rows: readonly { row_id: string; data: string }[],
): Promise<string[]> {
  const records = `[${rows.map(({ row_id, data }) => `{"i":"${row_id}","d":${data}}`).join(',')}]`
  const { rows: changed } = await sql<{ row_id: string }>`
    update rows r set data = r.data || t.d
    from jsonb_to_recordset(${records}::jsonb) as t (i uuid, d jsonb)
    where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.row_id = t.i and r.seq >= (
      select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
    returning r.row_id, ${announcing(sheet_id)}`.execute(db)
  return changed.map(({ row_id }) => row_id)
}
