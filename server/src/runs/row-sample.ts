import { sql } from 'kysely'
import type { Db } from '../database/connection/db.ts'
import { matchingRows, readMatching } from '../sheets/store/matching-rows.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { chosenRows, type RowChoice } from './row-choice.ts'

/**
 * The number of rows of a choice, and the numbers of those to look at: all up to `whole`, above that some, spread
 * evenly.
 */
export type RowSample = { total: number; seqs: number[] }

type Sizes = { whole: number; some: number }

export async function sampleRows(
  db: Db,
  sheet: SheetRecord,
  rows: RowChoice,
  sizes: Sizes,
): Promise<RowSample> {
  return rows.kind === 'all' ? sampleSheet(db, sheet, sizes) : sampleChosen(db, sheet, rows, sizes)
}

/**
 * Samples a sheet by row number, without counting. The sample of a large sheet may contain numbers of deleted rows, so
 * reading them returns fewer rows.
 */
async function sampleSheet(
  db: Db,
  { org_id, sheet_id }: SheetRecord,
  { whole, some }: Sizes,
): Promise<RowSample> {
  const { rows } = await sql<{ total: number; seqs: number[] | null }>`
    with sheet as (
      select first_seq, next_seq, next_seq - first_seq - deleted as total from sheet_counters
      where org_id = ${org_id} and sheet_id = ${sheet_id}
    )
    select total, case when total > ${whole}
        then (select array_agg(first_seq + floor(n * (next_seq - first_seq)::numeric / ${some})::bigint)
          from generate_series(0, ${some}::int - 1) as n)
        else (select array_agg(r.seq order by r.seq) from rows r
          where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= first_seq) end as seqs
    from sheet`.execute(db)
  return { total: rows[0]?.total ?? 0, seqs: (rows[0]?.seqs ?? []).map(Number) }
}

/** Samples a selection. Its rows are counted as List Rows counts them. */
async function sampleChosen(
  db: Db,
  sheet: SheetRecord,
  choice: RowChoice,
  { whole, some }: Sizes,
): Promise<RowSample> {
  const matching = choice.kind === 'matching' ? await matchingRows(db, sheet, choice.selection) : null
  const chosen = matching === null ? chosenRows(sheet, choice) : sql`select r.row_id, r.seq ${matching.rows}`
  const statement = sql<{ total: number; seqs: number[] | null }>`
    with chosen as materialized (${chosen}),
    counted as (select count(*) as total from chosen)
    select total, (select array_agg(seq order by seq) from (
        select seq, row_number() over (order by seq) - 1 as n from chosen) numbered
      where total <= ${whole} or n % greatest(1, total / ${some}) = 0) as seqs from counted`
  const rows = await readMatching(db, { isJoined: matching?.isJoined ?? false }, statement)
  return { total: rows[0]?.total ?? 0, seqs: (rows[0]?.seqs ?? []).map(Number) }
}
