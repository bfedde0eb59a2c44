import { sql } from 'kysely'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { lockCounters } from '../../database/connection/locks.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { replaceKeys } from './dedupe-keys.ts'
import { BLOCK, livingRows, rowsWithIds } from './rows.ts'

/** New values of a row. `data` is JSON text of an object keyed by column number. */
export type RowEdit = { rowId: string; data: string }

/** A row with its former and its new values, as JSON texts by column: long numbers keep all digits. */
export type RowChange = { row_id: string; was: string; became: string }

/**
 * Writes values into rows and keeps their other values. Returns the changed rows, without rows that were deleted or would
 * become too large.
 */
export async function editRows(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  edits: readonly RowEdit[],
): Promise<RowChange[]> {
  const { rows } = await sql<RowChange & { seq: number }>`
    with given as materialized (
      select ${org_id}::uuid as org_id, row_id, data::jsonb as data
      from unnest(${edits.map((edit) => edit.rowId)}::uuid[], ${edits.map((edit) => edit.data)}::text[])
        as g (row_id, data)
    ), locked as (
      select r.org_id, r.row_id, r.data from (select distinct org_id, row_id from given) g
      join rows r on r.org_id = g.org_id and r.row_id = g.row_id
      where (${livingRows({ org_id, sheet_id })}) is true
      order by r.row_id for update of r
    )
    update rows r set data = r.data || g.data
    from given g join locked l on l.row_id = g.row_id
    where r.org_id = l.org_id and r.row_id = l.row_id
      and octet_length((r.data || g.data)::text) <= ${MAX_ROW_BYTES}
    returning r.row_id, r.seq, g.data::text as became, (
      select coalesce(jsonb_object_agg(key, l.data -> key), '{}') from jsonb_object_keys(g.data) key where l.data ? key
    )::text as was`.execute(trx)
  await noteEdited(
    trx,
    { org_id, sheet_id },
    rows.map(({ seq }) => seq),
  )
  return rows.map(({ row_id, was, became }) => ({ row_id, was, became }))
}

/**
 * Handles changed values: rows of these numbers are compared for duplicates again (D72), and watchers of the sheet are
 * notified.
 */
export async function noteEdited(trx: Db, sheet: SheetKey, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return
  await replaceKeys(trx, sheet, seqs)
  await sql`select ${announcing(sheet.sheet_id)}`.execute(trx)
}

/** The largest outputs of a row that are kept. A row with more cannot be restored. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024

/** Keeps rows that will be deleted in this transaction. */
export async function keepDeletedRows(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  ids: readonly string[],
): Promise<void> {
  await lockCounters(trx, org_id, [sheet_id])
  await sql`
    insert into deleted_rows (org_id, sheet_id, row_id, seq, record, cells, comments, changes)
    select r.org_id, r.sheet_id, r.row_id, r.seq, r::text,
      array(select c::text from cells c where c.org_id = r.org_id and c.row_id = r.row_id),
      array(select m::text from comments m where m.org_id = r.org_id and m.row_id = r.row_id),
      array(select h::text from row_changes h where h.org_id = r.org_id and h.row_id = r.row_id)
    from ${rowsWithIds({ org_id, sheet_id }, ids)}
    where ${livingRows({ org_id, sheet_id })} and (select coalesce(sum(pg_column_size(c.outputs)), 0) from cells c
        where c.org_id = r.org_id and c.row_id = r.row_id) <= ${MAX_KEPT_BYTES}
    on conflict (org_id, row_id) do nothing`.execute(trx)
}

/** Restores rows to their places, with their cells. Rows are not restored into a sheet that was emptied since. */
export async function restoreRows(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  ids: readonly string[],
): Promise<string[]> {
  await lockCounters(trx, org_id, [sheet_id])
  const { rows } = await sql<{ row_id: string }>`
    with back as (
      delete from deleted_rows d using sheet_counters c
      where d.org_id = ${org_id} and d.sheet_id = ${sheet_id} and d.row_id = any(${ids}::uuid[])
        and c.org_id = d.org_id and c.sheet_id = d.sheet_id and d.seq >= c.first_seq
      returning d.row_id, d.seq, d.record, d.cells, d.comments, d.changes
    ), rows_back as (
      insert into rows select (b.record::"rows").* from back b
    ), cells_back as (
      insert into cells select (printed::cells).* from back b, unnest(b.cells) as printed
    ), comments_back as (
      insert into comments select (printed::comments).* from back b, unnest(b.comments) as printed
    ), changes_back as (
      insert into row_changes select (printed::row_changes).* from back b, unnest(b.changes) as printed
    ), filled as (
      update row_gaps g set deleted = g.deleted - b.count
      from (select seq / ${BLOCK} as block, count(*)::int as count from back group by 1) b
      where g.org_id = ${org_id} and g.sheet_id = ${sheet_id} and g.block = b.block
    ), counted as (
      update sheet_counters set deleted = deleted - (select count(*) from back)
      where org_id = ${org_id} and sheet_id = ${sheet_id} returning ${announcing(sheet_id)}
    )
    select row_id from back`.execute(trx)
  await sql`delete from row_gaps where org_id = ${org_id} and sheet_id = ${sheet_id} and deleted <= 0`.execute(
    trx,
  )
  return rows.map((row) => row.row_id)
}

/** Counts the copies of deleted rows. After a restore of these rows, the copies left are older than an emptying of the sheet. */
export async function countDeletedRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  ids: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deleted_rows
    where org_id = ${org_id} and sheet_id = ${sheet_id} and row_id = any(${ids}::uuid[])`.execute(db)
  return rows[0]?.count ?? 0
}

/** The time that the copies of deleted rows are kept. */
export const KEPT_SECONDS = 10

/** Deletes the copies of rows that were deleted longer ago than copies are kept. */
export async function forgetDeletedRows(db: Db): Promise<void> {
  await sql`delete from deleted_rows where deleted_at < now() - make_interval(secs => ${KEPT_SECONDS})`.execute(
    db,
  )
}
