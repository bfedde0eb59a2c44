import { type RawBuilder, sql } from 'kysely'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { lockCounters, lockRowsExclusively } from '../../database/connection/locks.ts'
import { KEYED_READ } from '../../database/connection/statement-names.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { dropFlights } from '../../runs/store/flights.ts'
import { packedCells } from './packed-cells.ts'
import type { Condition } from './row-filters.ts'
import { type LightRow, lightValues, readLargeValues, type StoredRow } from './row-values.ts'

export type Page = {
  rows: StoredRow[]
  total: number
  /** Set if the filters read values in cells: whether all rows were looked at, and how many were. */
  precision?: 'exact' | 'partial'
  looked_at?: number
  /** Set if the rows are sorted. */
  order?: { order_id: string; expires_at: Date }
}

/** The row numbers of one entry of row_gaps. It is a literal, so that expressions over it are the same text everywhere. */
export const BLOCK = sql.lit(1024)

/**
 * Adds rows in their order and returns their ids, which are made here unless they are given. `by`: who adds them. One statement numbers and writes
 * any number of rows.
 */
export async function insertRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  data: readonly string[],
  { ids = data.map(() => newId()), by = null }: { ids?: string[] | undefined; by?: string | null } = {},
): Promise<string[]> {
  if (data.length === 0) return []
  const records = `[${data.map((text, n) => `{"i":"${ids[n]}","d":${text}}`).join(',')}]`
  const { numAffectedRows } = await sql`
    with numbered as (
      update sheet_counters set next_seq = next_seq + ${data.length}, added_by = ${by}
      where org_id = ${org_id} and sheet_id = ${sheet_id}
      returning next_seq - ${data.length} - 1 as base, ${announcing(sheet_id)}
    )
    insert into rows (org_id, sheet_id, row_id, seq, data)
    select ${org_id}, ${sheet_id}, t.i, numbered.base + t.n, t.d
    from numbered, rows from (jsonb_to_recordset(${records}::jsonb) as (i uuid, d jsonb)) with ordinality as t (i, d, n)
    order by t.n`.execute(db)
  if (numAffectedRows !== BigInt(data.length)) throw notFound('Sheet')
  return ids
}

export async function countRows(db: Db, { org_id, sheet_id }: SheetKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`select next_seq - first_seq - deleted as count
    from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(db)
  return rows[0]?.count ?? 0
}

const keyedRead = sql.raw(KEYED_READ)

/** Lists a page of rows in the order of insertion, with their cells. A deep page costs as much as the first one. */
export async function listPage(db: Db, sheet: SheetKey, offset: number, limit: number): Promise<Page> {
  const { org_id, sheet_id } = sheet
  const { rows } = await sql<PageRow>`${keyedRead}
    with sheet as (
      select first_seq, next_seq - first_seq - deleted as total
      from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), ${selectPlace(sheet, offset)}, page as (
      select r.row_id, ${lightValues}, r.seq from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= (select seq from place)
      order by r.seq limit ${limit}
    )
    select sheet.total, page.row_id, page.data, page.stored_bytes, ${packedCells(org_id, sql`page.row_id`)} as cells
    from sheet left join page on true order by page.seq`.execute(db)
  return createPage(db, org_id, rows)
}

/** A row of a page as the database returns it, with the number of all rows of the sheet. `createPage` makes a page of them. */
export type PageRow = Partial<LightRow> & { total: number }

/** Selects `place`: the row number at which the rows from `offset` on begin, with the rows deleted before it left out. */
function selectPlace({ org_id, sheet_id }: SheetKey, offset: number): RawBuilder<unknown> {
  if (offset === 0) return sql`place as (select first_seq as seq from sheet)`
  return sql`gap as (
        select g.start, g.live_before, g.live_before + g.stop - g.start - g.deleted as live_after, g.stop
        from sheet, lateral (
          select greatest(block * ${BLOCK}, first_seq) as start, (block + 1) * ${BLOCK} as stop, deleted,
            greatest(block * ${BLOCK}, first_seq) - first_seq
              - (sum(deleted) over (order by block) - deleted) as live_before
          from row_gaps
          where org_id = ${org_id} and sheet_id = ${sheet_id} and (block + 1) * ${BLOCK} > first_seq
        ) g
        where g.live_before <= ${offset} order by g.start desc limit 1
      ), place as (
        select case
          when gap.start is null then sheet.first_seq + ${offset}
          when ${offset} >= gap.live_after then gap.stop + ${offset} - gap.live_after
          else (
            select seq from (
              select seq, row_number() over (order by seq) as nth from rows
              where org_id = ${org_id} and sheet_id = ${sheet_id} and seq >= gap.start and seq < gap.stop
            ) living where nth = ${offset} - gap.live_before + 1)
          end as seq
        from sheet left join gap on true)`
}

export async function listByIds(
  db: Db,
  sheet: SheetKey,
  ids: readonly string[],
  { offset, limit }: { offset: number; limit: number },
): Promise<Page> {
  const { rows } = await sql<LightRow>`
    select r.row_id, ${lightValues} from ${rowsWithIds(sheet, ids)}
    where ${livingRows(sheet)} order by r.seq`.execute(db)
  const page = rows.slice(offset, offset + limit)
  return { rows: await readLargeValues(db, sheet.org_id, page), total: rows.length }
}

/** Returns the ids that are rows of the sheet. */
export async function findRowIds(db: Db, sheet: SheetKey, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ row_id: string }>`
    select r.row_id from ${rowsWithIds(sheet, ids)} where ${livingRows(sheet)}`.execute(db)
  return new Set(rows.map(({ row_id }) => row_id))
}

/**
 * Deletes rows with their cells and returns the ids that existed. Call it in a transaction. The organisation is taken from
 * the rows found, not from a parameter: before statistics exist, PostgreSQL would expect the whole organisation to have at
 * most one row.
 */
export async function deleteRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  ids: readonly string[],
): Promise<string[]> {
  await lockCounters(db, org_id, [sheet_id])
  await dropFlights(db, org_id, { sheetId: sheet_id, rowIds: ids })
  const { rows } = await sql<{ row_id: string }>`
    with counter as (
      select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), named as materialized (
      select r.org_id, r.row_id from counter, ${rowsWithIds({ org_id, sheet_id }, ids)}
      where r.sheet_id = ${sheet_id} and r.seq >= counter.first_seq
    ), gone as (
      delete from rows r using named
      where r.org_id = named.org_id and r.row_id = named.row_id returning r.org_id, r.row_id, r.seq
    ), cells_gone as (
      delete from cells c using gone
      where c.org_id = gone.org_id and c.row_id = gone.row_id
    ), former_gone as (
      delete from former_cells k using gone
      where k.org_id = gone.org_id and k.row_id = gone.row_id
    ), stopped_gone as (
      delete from stopped_rows s using gone
      where s.org_id = gone.org_id and s.row_id = gone.row_id
    ), comments_gone as (
      delete from comments m using gone
      where m.org_id = gone.org_id and m.row_id = gone.row_id
    ), changes_gone as (
      delete from row_changes h using gone
      where h.org_id = gone.org_id and h.row_id = gone.row_id
    ), gaps as (
      insert into row_gaps as g (org_id, sheet_id, block, deleted)
      select ${org_id}, ${sheet_id}, seq / ${BLOCK}, count(*) from gone group by seq / ${BLOCK}
      on conflict (org_id, sheet_id, block) do update set deleted = g.deleted + excluded.deleted
    ), counted as (
      update sheet_counters set deleted = deleted + (select count(*) from gone)
      where org_id = ${org_id} and sheet_id = ${sheet_id} returning ${announcing(sheet_id)}
    )
    select row_id from gone`.execute(db)
  return rows.map((row) => row.row_id)
}

/**
 * Hides every row at once and returns their number; the hidden rows are removed later (purges.ts). The next row starts a new
 * block, so that gaps counted for the deleted rows are never taken for those of new ones.
 */
export async function deleteAllRows(db: Db, { org_id, sheet_id }: SheetKey): Promise<number> {
  await lockRowsExclusively(db, [sheet_id])
  await lockCounters(db, org_id, [sheet_id])
  await dropFlights(db, org_id, { sheetIds: [sheet_id] })
  const { rows } = await sql<{ count: number }>`
    with before as (
      select next_seq - first_seq - deleted as count
      from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), raised as (
      update sheet_counters set deleted = 0,
        first_seq = (next_seq / ${BLOCK} + 1) * ${BLOCK}, next_seq = (next_seq / ${BLOCK} + 1) * ${BLOCK}
      from before where org_id = ${org_id} and sheet_id = ${sheet_id} and before.count > 0
      returning first_seq, ${announcing(sheet_id)}
    ), purge as (
      insert into purges as p (org_id, sheet_id, below_seq)
      select ${org_id}, ${sheet_id}, first_seq from raised
      on conflict (org_id, sheet_id) do update set below_seq = greatest(p.below_seq, excluded.below_seq)
    )
    select count from before`.execute(db)
  return rows[0]?.count ?? 0
}

/** Selects rows of the organisation by their ids, as `r`. */
export function rowsWithIds(sheet: SheetKey, ids: readonly string[]): RawBuilder<unknown> {
  return rowsByKey(sheet, sql`select distinct unnest(${ids}::uuid[]) as row_id`)
}

/**
 * Selects rows as `r` by the ids that a statement selects. Each is looked up by its key: before statistics exist, PostgreSQL
 * would prefer the number of a sheet's first row and read the whole sheet.
 */
export function rowsByKey({ org_id }: SheetKey, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${ids}) wanted,
    lateral (select * from rows where org_id = ${org_id} and row_id = wanted.row_id offset 0) r`
}

export function livingRows({ org_id, sheet_id }: SheetKey): Condition {
  return sql`r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= (
    select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})`
}

export function allOf(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}

/** Creates a page. Statements that select the total beside the page return one row without an id if the page is empty. */
export async function createPage(db: Db, orgId: string, rows: readonly PageRow[]): Promise<Page> {
  const page = rows.flatMap(({ row_id, data = null, stored_bytes = null, cells }) =>
    row_id ? [{ row_id, data, stored_bytes, cells }] : [],
  )
  return { total: rows[0]?.total ?? 0, rows: await readLargeValues(db, orgId, page) }
}
