import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { SheetKey } from '../sheets/sheet-key.ts'

/** A row as far as it is looked at before it runs: `data` is null where it is large. */
export type ForeseenRow = { data: string | null; cells: string | null }

/** Values that take more in the database are not looked at. */
export const MAX_FORESEEN_BYTES = 8192
const MAX_BYTES = sql.lit(MAX_FORESEEN_BYTES)

/** Rows by their numbers, with the results of some actions. */
export async function listForeseenRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  seqs: readonly number[],
  actions: readonly string[],
): Promise<ForeseenRow[]> {
  const { rows } = await sql<ForeseenRow>`
    select case when pg_column_size(r.data) <= ${MAX_BYTES} then r.data::text end as data, (
      select json_object_agg(c.action, json_build_array(c.status,
        case when pg_column_size(c.outputs) <= ${MAX_BYTES} then c.outputs end))
      from cells c where c.org_id = r.org_id and c.row_id = r.row_id and c.action = any(${actions}::text[]))::text as cells
    from rows r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq = any(${seqs}::bigint[])
    order by r.seq`.execute(db)
  return rows
}

export type CacheKey = { action: string; epoch: number; key: string }

/** Which of these keys have a stored answer that is fresh enough, by their places. */
export async function findCachedKeys(
  db: Db,
  { org_id, sheet_id, cache_since }: SheetKey & { cache_since: string | null },
  keys: readonly CacheKey[],
): Promise<Set<number>> {
  const { rows } = await sql<{ n: number }>`
    select k.n::int as n from unnest(${keys.map(({ action }) => action)}::text[],
      ${keys.map(({ epoch }) => epoch)}::int[], ${keys.map(({ key }) => Buffer.from(key, 'hex'))}::bytea[]) with ordinality as k (action, epoch, key, n)
    join cell_cache c on c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.action = k.action and c.epoch = k.epoch
      and c.key = k.key
    where ${cache_since}::date is null or c.completed_at >= ${cache_since}::date at time zone 'UTC'`.execute(
    db,
  )
  return new Set(rows.map(({ n }) => n - 1))
}

/** What cells of an action came to: `paid` cost something; by provider, how often it was asked and how often it answered. */
export type CellHistory = {
  settled: number
  paid: number
  providers: { provider: string; asked: number; hits: number }[]
}

/**
 * Of rows by their numbers, what the action came to in its present configuration: cells that the cache answered tell nothing,
 * nor do those that could not be run.
 */
export async function readCellHistory(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  seqs: readonly number[],
  { action, epoch }: { action: string; epoch: number },
): Promise<CellHistory> {
  const { rows } = await sql<{ settled: number; paid: number; providers: CellHistory['providers'] | null }>`
    with since as (
      select coalesce(max(revision), 0) as revision from chain_revisions
      where org_id = ${org_id} and sheet_id = ${sheet_id} and not definition->'actions' @> ${JSON.stringify([{ id: action, epoch }])}::jsonb
    ), settled as materialized (
      select c.credits_millis, c.provenance from rows r join cells c on c.org_id = r.org_id and c.row_id = r.row_id
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq = any(${seqs}::bigint[])
        and c.action = ${action} and not c.cached and c.status in ('complete', 'failed')
        and c.revision > (select revision from since)
    ), asked as (
      select p->>'provider' as provider, count(*)::int as asked,
        (count(*) filter (where p->>'status' in ('hit', 'unverified')))::int as hits
      from settled, jsonb_array_elements(case when jsonb_typeof(provenance) = 'array' then provenance else '[]' end) p
      where p->>'status' in ('hit', 'unverified', 'invalid', 'miss') group by 1
    )
    select count(*)::int as settled, (count(*) filter (where credits_millis > 0))::int as paid,
      (select json_agg(asked) from asked) as providers from settled`.execute(db)
  const { settled = 0, paid = 0, providers } = rows[0] ?? {}
  return { settled, paid, providers: providers ?? [] }
}
