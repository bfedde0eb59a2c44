import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Selection, SortKey } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { matchingRows, readMatching } from './matching-rows.ts'
import { readByIndex } from './sheet-share.ts'
import { sortedRows } from './sort-keys.ts'

export type Neighbours = { previous_row_id: string | null; next_row_id: string | null }

/** Finds the rows before and after a row in the order of insertion. */
export async function findNeighbours(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  rowId: string,
): Promise<Neighbours> {
  const ofSheet = sql`n.org_id = ${org_id} and n.sheet_id = ${sheet_id}`
  const { rows } = await sql<Neighbours>`
    select (
      select n.row_id from rows n where ${ofSheet} and n.seq < r.seq and n.seq >= s.first_seq order by n.seq desc limit 1
    ) as previous_row_id, (
      select n.row_id from rows n where ${ofSheet} and n.seq > r.seq order by n.seq limit 1
    ) as next_row_id
    from rows r, sheet_counters s
    where r.org_id = ${org_id} and r.row_id = ${rowId} and s.org_id = ${org_id} and s.sheet_id = ${sheet_id}`.execute(
    db,
  )
  return rows[0] ?? { previous_row_id: null, next_row_id: null }
}

/**
 * Finds the rows before and after a row in an order of List Rows, among about a thousand places: rows that were deleted since are
 * skipped. A row that the order does not have has none.
 */
export async function findOrderedNeighbours(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  rowId: string,
  orderId: string,
): Promise<Neighbours> {
  const { rows } = await sql<Neighbours>`
    with pieces as (
      select piece, seqs from row_order_pieces where org_id = ${org_id} and order_id = ${orderId}
    ), own as materialized (
      select p.piece, s.n, r.seq from rows r, pieces p, unnest(p.seqs) with ordinality s (seq, n)
      where r.org_id = ${org_id} and r.row_id = ${rowId} and r.seq = any(p.seqs) and s.seq = r.seq
    ), near as materialized (
      select p.piece, s.n, s.seq, (p.piece, s.n) < (own.piece, own.n) as is_before
      from own, pieces p, unnest(p.seqs) with ordinality s (seq, n)
      where p.piece between own.piece - 1 and own.piece + 1 and s.seq <> own.seq
    ), living as (
      select near.*, r.row_id from near, lateral (
        select row_id from rows where org_id = ${org_id} and sheet_id = ${sheet_id} and seq = near.seq
          and seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}) offset 0
      ) r
    )
    select (select row_id from living where is_before order by piece desc, n desc limit 1) as previous_row_id,
      (select row_id from living where not is_before order by piece, n limit 1) as next_row_id`.execute(db)
  return rows[0] ?? { previous_row_id: null, next_row_id: null }
}

/** Finds the rows before and after a row among those of a selection, in their order. A row that is not among them has none. */
export async function findMatchingNeighbours(
  trx: Db,
  sheet: SheetKey,
  { selection, sort }: { selection: Selection; sort: readonly SortKey[] },
  rowId: string,
): Promise<Neighbours> {
  const { org_id, sheet_id } = sheet
  await readByIndex(trx, sheet)
  const matching = await matchingRows(trx, sheet, selection)
  const own = sql`(select seq from rows where org_id = ${org_id} and row_id = ${rowId})`
  const idOf = (place: number) => sql`(
    select r.row_id from ordered o join rows r on r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq = o.seq
    where o.place = (select place from ordered where seq = ${own}) + ${sql.lit(place)})`
  const statement =
    sort.length > 0
      ? sql<Neighbours>`
        with ordered as materialized (select seq, row_number() over () as place from (${sortedRows(matching.rows, sort)}) sorted)
        select ${idOf(-1)} as previous_row_id, ${idOf(1)} as next_row_id`
      : sql<Neighbours>`
        select (select r.row_id ${matching.rows} and r.seq < own.seq order by r.seq desc limit 1) as previous_row_id,
          (select r.row_id ${matching.rows} and r.seq > own.seq order by r.seq limit 1) as next_row_id
        from (select r.seq ${matching.rows} and r.row_id = ${rowId}) own`
  const rows = await readMatching(trx, matching, statement)
  return rows[0] ?? { previous_row_id: null, next_row_id: null }
}
