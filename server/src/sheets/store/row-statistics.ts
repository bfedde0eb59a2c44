import { type RawBuilder, sql } from 'kysely'
import { MAX_BARS, MOST_FREQUENT } from '#contract/row-statistics.ts'
import type { Db } from '../../database/connection/db.ts'
import type { Selection, SheetColumn } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { lookUpColumn, textOf } from './column-values.ts'
import { matchingRows, readMatching } from './matching-rows.ts'
import { asInstant, asNumber } from './row-columns.ts'
import { livingRows } from './rows.ts'
import { readByIndex } from './sheet-share.ts'

/** The rows that statistics look at, selected as `r`. */
export type LookedAt = RawBuilder<unknown>

/** The figures of numbers or of moments, which are milliseconds. `bars`: the number of values in each part of the range. */
export type Distribution = {
  count: number
  sum: string
  average: string
  min: number
  median: number
  max: number
  bar_count: number
  bars: Record<string, number>
}

export type ValueCounts = {
  filled: number
  empty: number
  unique: number
  most_frequent: { value: string; count: number }[]
  numbers: Distribution | null
  dates: Distribution | null
}

export type ActionCounts = {
  statuses: { status: string | null; count: number; credits_millis: number }[]
  providers: { provider: string; asked: number; hits: number }[]
}

/** Selects all rows of a sheet. */
export const lookAtSheet = (sheet: SheetKey): LookedAt =>
  sql`select r.* from rows r where ${livingRows(sheet)}`

const HASHES = sql.lit(1024)

/** Selects about `size` rows of a sheet: one at random from each of as many stretches, the same ones in each statement. */
export function sampleSheet(sheet: SheetKey, size: number): LookedAt {
  const { org_id, sheet_id } = sheet
  const place = sql`(n + (hashint4(n)::bigint & ${sql.lit(1023)})::numeric / ${HASHES})`
  return lookAtNumbers(
    sheet,
    sql`array(select first_seq + floor(${place} * (next_seq - first_seq) / ${sql.lit(size)})::bigint
      from sheet_counters, generate_series(0, ${sql.lit(size - 1)}) as n where org_id = ${org_id} and sheet_id = ${sheet_id})`,
  )
}

const lookAtNumbers = (sheet: SheetKey, seqs: RawBuilder<unknown>): LookedAt =>
  sql`select r.* from rows r where ${livingRows(sheet)} and r.seq = any(${seqs})`

export const lookAt = (sheet: SheetKey, seqs: readonly number[]): LookedAt =>
  lookAtNumbers(sheet, sql`${seqs}::bigint[]`)

/** Finds the numbers of the rows of a selection once: of all, or of about `sample` if there are more than `most`. */
export async function findSelected(
  trx: Db,
  sheet: SheetKey,
  selection: Selection,
  { most, sample }: { most: number; sample: number },
): Promise<{ rows: number; seqs: number[] }> {
  await readByIndex(trx, sheet)
  const matching = await matchingRows(trx, sheet, selection)
  const isSampled = sql`abs(hashint8(seq)::bigint) % ${SHARES} < ${SHARES} * ${sql.lit(sample)}::float8 / t.count`
  const [found] = await readMatching(
    trx,
    matching,
    sql<{ rows: number; seqs: number[] | null }>`
    with found as materialized (select r.seq ${matching.rows})
    select t.count as rows, (
      select json_agg(seq) from found where t.count <= ${sql.lit(most)} or ${isSampled}
    ) as seqs from (select count(*) as count from found) t`,
  )
  return { rows: found?.rows ?? 0, seqs: found?.seqs ?? [] }
}

const SHARES = sql.lit(2 ** 20)

const MAX_CHARACTERS = sql.lit(1000)

/** Counts the values of a column. Equal values are counted together first, so that each is read as a number or date once. */
export async function countValues(
  trx: Db,
  sheet: SheetKey,
  looked: LookedAt,
  { column, flying }: { column: SheetColumn; flying: boolean },
): Promise<ValueCounts> {
  const { joins, read } = lookUpColumn(sheet, column, flying)
  const text = textOf(column, sql`value`)
  const moment =
    'field' in column ? sql`extract(epoch from text::timestamptz)::float8 * 1000` : asInstant(sql`text`)
  const { rows: found } = await sql<ValueCounts>`
    with grouped as materialized (
      select text, count(*)::bigint as n from (
        select (${text}) collate "C" as text from (select ${read} as value from (${looked}) r ${joins} offset 0) read offset 0
      ) texts group by text
    ), numbers as materialized (
      select exact, ${toDouble(sql`exact`)} as x, sum(n)::bigint as n
      from (select ${asNumber(sql`text`)} as exact, n from grouped where text is not null offset 0) found
      where exact is not null group by exact
    ), dates as materialized (
      select null::numeric as exact, moment as x, sum(n)::bigint as n
      from (select ${moment} as moment, n from grouped where text is not null offset 0) found
      where moment is not null group by moment
    )
    select t.*, coalesce((
        select jsonb_agg(jsonb_build_object('value', left(text, ${MAX_CHARACTERS}), 'count', n) order by n desc, text)
        from (select text, n from grouped where text is not null order by n desc, text limit ${sql.lit(MOST_FREQUENT)}) top
      ), '[]') as most_frequent, ${distributionOf(sql`numbers`)} as numbers, ${distributionOf(sql`dates`)} as dates
    from (
      select coalesce(sum(n) filter (where text is not null), 0)::bigint as filled,
        coalesce(sum(n) filter (where text is null), 0)::bigint as empty, count(text) as unique
      from grouped
    ) t`.execute(trx)
  const [counts] = found
  if (counts === undefined) throw new Error('the statement that counts values returned no row')
  return counts
}

/** Returns a number that a double can hold: one beyond its range becomes the last one within it. */
const toDouble = (number: RawBuilder<unknown>) => sql`case when abs(${number}) < 1e-300 then 0
  when abs(${number}) > 1e300 then sign(${number})::float8 * 1e300 else ${number}::float8 end`

/** Selects the figures of values `x`, each of them `n` times, as JSON; null if there are none. */
const distributionOf = (values: RawBuilder<unknown>) => sql`(
  select jsonb_build_object('count', total, 'sum', sum::text, 'average', (sum / total)::text, 'min', low, 'median', median,
    'max', high, 'bar_count', bar_count, 'bars', bars)
  from (
    select sum(n)::bigint as total, sum(exact * n) as sum, min(x) as low, max(x) as high,
      case when min(x) = max(x) then 1 else least(${sql.lit(MAX_BARS)}, count(*))::integer end as bar_count
    from ${values}
  ) t, lateral (
    select (min(x) filter (where upto >= (total + 1) / 2) + min(x) filter (where upto >= total / 2 + 1)) / 2 as median
    from (select x, sum(n) over (order by x) as upto from ${values}) summed
  ) middle, lateral (
    select jsonb_object_agg(bar, n) as bars from (
      select case when low = high then 0 else least(bar_count, width_bucket(x, low, high, bar_count)) - 1 end as bar, sum(n) as n
      from ${values} group by 1
    ) counted
  ) histogram
  where total > 0)`

const NOT_ASKED = ['unconfigured', 'disabled', 'ineligible']
const HITS = ['hit', 'answer', 'unverified']
const MAX_PROVIDERS = 100

/** Counts the cells of an action by status, and how often its providers were asked and had an answer. */
export async function countCells(
  trx: Db,
  sheet: SheetKey,
  looked: LookedAt,
  { action, flying }: { action: string; flying: boolean },
): Promise<ActionCounts> {
  const { joins, read, cell } = lookUpColumn(sheet, { statusOf: action }, flying)
  const { rows: found } = await sql<ActionCounts>`
    with cells_of_rows as materialized (
      select ${read} as status, ${cell}.credits_millis as millis, ${cell}.provenance as provenance from (${looked}) r ${joins}
    )
    select (
      select coalesce(jsonb_agg(to_jsonb(s)), '[]') from (
        select status, count(*) as count, coalesce(sum(millis), 0) as credits_millis from cells_of_rows group by status
      ) s
    ) as statuses, (
      select coalesce(jsonb_agg(to_jsonb(p) order by asked desc, provider collate "C"), '[]') from (
        select entry ->> 'provider' as provider, count(*) as asked,
          count(*) filter (where entry ->> 'status' = any(${HITS}::text[])) as hits
        from cells_of_rows, jsonb_array_elements(case when jsonb_typeof(provenance) = 'array' then provenance end) entry
        where entry ->> 'provider' is not null and not coalesce(entry ->> 'status' = any(${NOT_ASKED}::text[]), false)
        group by 1 order by 2 desc limit ${sql.lit(MAX_PROVIDERS)}
      ) p
    ) as providers`.execute(trx)
  return found[0] ?? { statuses: [], providers: [] }
}
