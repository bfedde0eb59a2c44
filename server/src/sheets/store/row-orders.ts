import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SortKey } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { AppError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { packedCells } from './packed-cells.ts'
import { type LightRow, lightValues, readLargeValues } from './row-values.ts'
import type { Page } from './rows.ts'
import { sortedRows } from './sort-keys.ts'
import type { SheetOfRows } from './status-filters.ts'

/** The places of one record of row_order_pieces. */
const PIECE = 480
const piece = sql.lit(PIECE)
const KEPT = sql.raw(`interval '10 minutes'`)
const KEPT_LONG = sql.raw(`interval '1 day'`)
/** The orders that an organisation may have at once. The one that was used longest ago makes room for another. */
const MAX_ORDERS = 100

export type RowOrder = { order_id: string; total: number; expires_at: Date; view_id: string | null }

export type NewOrder = {
  /** `from` and `where` of the rows `r`. */
  rows: RawBuilder<unknown>
  sort: readonly SortKey[]
  /** The number of first rows that are kept; all without it. */
  limit?: number | undefined
  /** Keeps the order for a day, for work in the background. */
  isKept?: boolean
  view_id?: string | null | undefined
}

/** Sorts rows and stores their order. Call it in a transaction. Sorts that do not fit into memory use files. */
export async function createOrder(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  { rows, sort, limit, view_id = null, isKept = false }: NewOrder,
): Promise<RowOrder> {
  const order_id = newId()
  await sql`select set_config('work_mem', '64MB', true), set_config('jit', 'off', true)`.execute(db)
  const first = limit === undefined ? sql`` : sql`limit ${sql.lit(limit)}`
  const { rows: made } = await sql<RowOrder>`
    with listed as materialized (
      select array_agg(seq) as seqs, count(*) as total from (${sortedRows(rows, sort)} ${first}) sorted
    ), made as (
      insert into row_orders (org_id, order_id, sheet_id, view_id, total, expires_at)
      select ${org_id}, ${order_id}, ${sheet_id}, ${view_id}::uuid, total, now() + ${isKept ? KEPT_LONG : KEPT} from listed
      returning order_id, total, expires_at, view_id
    ), pieces as (
      insert into row_order_pieces (org_id, order_id, piece, seqs)
      select ${org_id}, ${order_id}, n, seqs[n * ${piece} + 1 : (n + 1) * ${piece}]
      from listed, generate_series(0, (total - 1) / ${piece}) n where total > 0
    )
    select * from made`.execute(db)
  const [order] = made
  if (order === undefined) throw new Error(`order ${order_id} was not stored`)
  await forgetOldest(db, org_id)
  return order
}

/** Keeps an order for another 10 minutes. Throws 410 if it is over, or belongs to another sheet. */
export async function useOrder(db: Db, { org_id, sheet_id }: SheetKey, orderId: string): Promise<RowOrder> {
  const { rows } = await sql<RowOrder>`update row_orders set expires_at = now() + ${KEPT}
    where org_id = ${org_id} and order_id = ${orderId} and sheet_id = ${sheet_id} and expires_at > now()
    returning order_id, total, expires_at, view_id`.execute(db)
  const [order] = rows
  if (order !== undefined) return order
  const message = `This sheet has no order ${orderId}: orders are forgotten 10 minutes after their last use. List the rows with \`sort\` again`
  throw new AppError('ORDER_EXPIRED', message)
}

/** Lists the rows at some places of an order, as they are now. Rows deleted since are missing. */
export async function listOrdered(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  { order_id, total }: RowOrder,
  { offset, limit }: { offset: number; limit: number },
): Promise<Page> {
  const { rows } = await sql<LightRow>`
    with places as materialized (${selectPlaces({ org_id, order_id }, offset, limit)})
    select r.row_id, ${lightValues}, ${packedCells(org_id, sql`r.row_id`)} as cells
    from places p, lateral (
      select * from rows where org_id = ${org_id} and sheet_id = ${sheet_id} and seq = p.seq offset 0
    ) r
    where r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
    order by p.place`.execute(db)
  return { rows: await readLargeValues(db, org_id, rows), total }
}

/** Selects the numbers of the rows at some places, with the places, which are counted from 0. */
export function selectPlaces(
  { org_id, order_id }: Pick<SheetOfRows, 'org_id'> & { order_id: string },
  offset: number,
  limit: number,
) {
  const [from, to] = [Math.floor(offset / PIECE), Math.floor((offset + limit - 1) / PIECE)]
  return sql`select s.seq, o.piece * ${piece} + s.n - 1 as place
    from row_order_pieces o, unnest(o.seqs) with ordinality s (seq, n)
    where o.org_id = ${org_id} and o.order_id = ${order_id}
      and o.piece >= least(${from}::bigint, 2147483647) and o.piece <= least(${to}::bigint, 2147483647)
      and o.piece * ${piece} + s.n - 1 >= ${offset} and o.piece * ${piece} + s.n - 1 < ${offset + limit}`
}

/** Selects the rows of an order as `r`, with their places. Each row is looked up by its number. */
export function rowsInOrder(
  { org_id, sheet_id }: SheetOfRows,
  { order_id, total }: Pick<RowOrder, 'order_id' | 'total'>,
): RawBuilder<unknown> {
  return sql`(${selectPlaces({ org_id, order_id }, 0, Math.max(1, total))}) place,
    lateral (select * from rows where org_id = ${org_id} and sheet_id = ${sheet_id} and seq = place.seq offset 0) r`
}

/** Forgets the orders of an organisation beyond the number that it may have. */
async function forgetOldest(db: Db, orgId: string): Promise<void> {
  await sql`with old as (
      delete from row_orders where (org_id, order_id) in (
        select org_id, order_id from row_orders where org_id = ${orgId} order by expires_at desc offset ${sql.lit(MAX_ORDERS)}
        for update skip locked)
      returning org_id, order_id
    )
    delete from row_order_pieces p using old where p.org_id = old.org_id and p.order_id = old.order_id`.execute(
    db,
  )
}

/** Forgets an order. */
export async function forgetOrder(db: Db, { org_id }: SheetKey, orderId: string): Promise<void> {
  await sql`delete from row_orders where org_id = ${org_id} and order_id = ${orderId}`.execute(db)
  await sql`delete from row_order_pieces where org_id = ${org_id} and order_id = ${orderId}`.execute(db)
}

/** Forgets some of the orders that have expired. Returns true if there may be more. */
export async function forgetExpired(db: Db): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    with old as (
      delete from row_orders where (org_id, order_id) in (
        select org_id, order_id from row_orders where expires_at < now() order by expires_at limit 20 for update skip locked)
      returning org_id, order_id
    ), pieces as (
      delete from row_order_pieces p using old where p.org_id = old.org_id and p.order_id = old.order_id
    )
    select count(*)::int as count from old`.execute(db)
  return rows[0]?.count === 20
}
