import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** A row that is looked at before it runs. `data` is null if it is large. */
export type ForeseenRow = { data: string | null; cells: string | null }

/** The size in the database above which values are not looked at. */
export const MAX_FORESEEN_BYTES = 8192
const MAX_BYTES = sql.lit(MAX_FORESEEN_BYTES)

/** Lists rows by their numbers, with the results of some actions. */
export async function listForeseenRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  seqs: readonly number[],
  actions: readonly string[],
): Promise<ForeseenRow[]> {
  const results = sql`(
      select json_object_agg(c.action, json_build_array(c.status,
        case when pg_column_size(c.outputs) <= ${MAX_BYTES} then c.outputs end))
      from cells c where c.org_id = r.org_id and c.row_id = r.row_id and c.action = any(${actions}::text[]))::text`
  const { rows } = await sql<ForeseenRow>`
    select case when pg_column_size(r.data) <= ${MAX_BYTES} then r.data::text end as data,
      ${actions.length === 0 ? sql`null` : results} as cells
    from rows r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq = any(${seqs}::bigint[])
    order by r.seq`.execute(db)
  return rows
}

export type CacheKey = { action: string; epoch: number; key: string }

/**
 * Returns whether the cache holds anything of a sheet. A sheet that has never run is spared a lookup for each of its
 * cells.
 */
export async function hasStoredOutputs(db: Db, { org_id, sheet_id }: SheetKey): Promise<boolean> {
  // Ordered by the key, so that its index leads to the first entry whatever the statistics are.
  const { rows } = await sql`
    select 1 from cell_cache where org_id = ${org_id} and sheet_id = ${sheet_id}
    order by org_id, sheet_id, key limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Returns the stored outputs that are fresh enough, as text, by the places of their keys. The text is null if the
 * outputs are large or not wanted. Keys are sent as the bytes of one value, because an array of them takes longer to
 * read.
 */
export async function findStoredOutputs(
  db: Db,
  { org_id, sheet_id, cache_since }: SheetKey & { cache_since: string | null },
  {
    action,
    epoch,
    keys,
    isRead,
  }: { action: string; epoch: number; keys: readonly string[]; isRead: boolean },
): Promise<Map<number, string | null>> {
  const { rows } = await sql<{ n: number; outputs: string | null }>`
    select k.n, c.outputs
    from (select n, substr(${Buffer.from(keys.join(''), 'hex')}::bytea, (n - 1) * 32 + 1, 32) as key
      from generate_series(1, ${keys.length}::int) n offset 0) k,
    lateral (select completed_at, case when ${isRead} and pg_column_size(outputs) <= ${MAX_BYTES} then outputs::text end as outputs
      from cell_cache where org_id = ${org_id} and sheet_id = ${sheet_id} and action = ${action} and epoch = ${epoch}
      and key = k.key offset 0) c
    where ${cache_since}::date is null or c.completed_at >= ${cache_since}::date at time zone 'UTC'`.execute(
    db,
  )
  return new Map(rows.map(({ n, outputs }) => [n - 1, outputs]))
}

/**
 * The outcomes of an action's cells: `hits` have an answer, paid or free. `providers` says for each provider how often
 * it was asked and how often it answered.
 */
export type CellHistory = {
  settled: number
  hits: number
  providers: { provider: string; asked: number; hits: number }[]
}

const NO_HISTORY: CellHistory = { settled: 0, hits: 0, providers: [] }

/**
 * The numbers of rows whose cells are looked at: the first ones, which people run to try things, the last ones, which
 * are recent, and some in between.
 */
const [FIRST, LAST, BETWEEN] = [400, 200, 400]

/**
 * Holds if a cell has an answer. An answer that was free when it was found counts as a hit, since it costs money today.
 * Large outputs are not opened.
 */
const HAS_ANSWER = sql`(pg_column_size(c.outputs) > ${MAX_BYTES} or jsonb_strip_nulls(c.outputs) <> '{}')`

/**
 * Returns the outcomes of actions in their present configuration. Cells that came from the cache or could not run are
 * left out. The number of rows that are looked at does not depend on the size of the sheet.
 */
export async function readCellHistories(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  actions: readonly { action: string; epoch: number }[],
): Promise<(action: string) => CellHistory> {
  if (actions.length === 0) return () => NO_HISTORY
  const ids = actions.map(({ action }) => action)
  const configured = actions.map(({ action, epoch }) => JSON.stringify([{ id: action, epoch }]))
  const living = sql`rows r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}`
  const { rows } = await sql<{ action: string } & Omit<CellHistory, 'providers'> & Asked>`
    with sheet as materialized (
      select first_seq, next_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), sample as materialized (
      (select r.row_id from ${living} and r.seq >= (select first_seq from sheet) order by r.seq limit ${sql.lit(FIRST)})
      union
      (select r.row_id from ${living} and r.seq >= (select first_seq from sheet) order by r.seq desc limit ${sql.lit(LAST)})
      union
      select r.row_id from ${living} and r.seq = any(array(
        select first_seq + n * (next_seq - first_seq) / ${sql.lit(BETWEEN)} from sheet, generate_series(0, ${sql.lit(BETWEEN)} - 1) as n))
    ), since as materialized (
      select a.action, (select coalesce(max(v.revision), 0) from chain_revisions v
        where v.org_id = ${org_id} and v.sheet_id = ${sheet_id} and not v.definition->'actions' @> a.configured) as revision
      from unnest(${ids}::text[], ${configured}::jsonb[]) as a (action, configured)
    ), settled as materialized (
      select c.action, c.provenance, c.credits_millis > 0 or (c.status = 'complete' and ${HAS_ANSWER}) as is_hit from sample s,
        lateral (select * from cells where org_id = ${org_id} and row_id = s.row_id and action = any(${ids}::text[]) offset 0) c
      join since on since.action = c.action and c.revision > since.revision
      where not c.cached and c.status in ('complete', 'failed')
    ), asked as (
      select action, p->>'provider' as provider, count(*)::int as asked,
        (count(*) filter (where p->>'status' in ('hit', 'unverified')))::int as hits
      from settled, jsonb_array_elements(case when jsonb_typeof(provenance) = 'array' then provenance else '[]' end) p
      where p->>'status' in ('hit', 'unverified', 'invalid', 'miss') group by 1, 2
    )
    select action, count(*)::int as settled, (count(*) filter (where is_hit))::int as hits,
      (select json_agg(a.*) from asked a where a.action = settled.action) as providers
    from settled group by action`.execute(db)
  const byAction = new Map(
    rows.map(({ action, ...one }) => [action, { ...one, providers: one.providers ?? [] }]),
  )
  return (action) => byAction.get(action) ?? NO_HISTORY
}

type Asked = { providers: CellHistory['providers'] | null }
