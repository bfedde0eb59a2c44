import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { newId } from '../../lib/ids.ts'
import { livingRows } from './rows.ts'

/** The values of a row before and after a change, as JSON texts of objects by column number. */
export type ChangedRow = { row_id: string; was: string; became: string }

const KEPT_DAYS = sql.lit(365)
/** The bytes of JSON of a value that is kept whole, and the characters of a longer one that are kept. */
const WHOLE_BYTES = sql.lit(4000)
const CUT_CHARACTERS = sql.lit(500)

const cut = (
  value: string,
) => sql`case when octet_length(${sql.ref(value)}::text) <= ${WHOLE_BYTES} then ${sql.ref(value)}
  else to_jsonb(left(${sql.ref(value)} #>> '{}', ${CUT_CHARACTERS}) || '…') end`

/** Records which values of rows were changed, and by whom. Call it in the transaction that changes them. */
export async function recordRowChanges(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  by: string,
  changes: readonly ChangedRow[],
): Promise<void> {
  if (changes.length === 0) return
  await sql`
    insert into row_changes (org_id, sheet_id, row_id, change_id, changed_by, changes)
    select ${org_id}, ${sheet_id}, g.row_id, g.change_id, ${by}, c.changes
    from unnest(${changes.map((one) => one.row_id)}::uuid[], ${changes.map(() => newId())}::uuid[],
      ${changes.map((one) => one.was)}::text[], ${changes.map((one) => one.became)}::text[]) as g (row_id, change_id, was, became),
    lateral (
      select jsonb_agg(jsonb_build_array(v.key::integer, ${cut('v.before')}, ${cut('v.after')}) order by v.key::integer) as changes
      from (
        select a.key, coalesce(g.was::jsonb -> a.key, 'null') as before, a.value as after from jsonb_each(g.became::jsonb) a
      ) v where v.before <> v.after
    ) c
    where c.changes is not null`.execute(trx)
}

/** Deletes changes that were made longer ago than they are kept. */
export async function forgetRowChanges(db: Db): Promise<void> {
  await sql`delete from row_changes where changed_at < now() - ${KEPT_DAYS} * interval '1 day'`.execute(db)
}

export type HistoryEntry = {
  /** Microseconds since 1970, which tell entries of one millisecond apart. */
  at: number
  id: string
  kind: 'added' | 'edited' | 'run'
  by: string | null
  run_id: string | null
  credits_millis: number | null
  changes: [column: number, before: unknown, after: unknown][] | null
}

/** The place of an entry, after which a page begins. */
export type HistoryPlace = Pick<HistoryEntry, 'at' | 'id'>

/**
 * Lists what happened to a row, newest first: who added it, what people changed, and the runs whose results it has or had. Former
 * results are kept for a week. Returns undefined if the sheet has no such row.
 */
export async function listHistory(
  db: Db,
  sheet: SheetKey,
  rowId: string,
  { limit, after }: { limit: number; after: HistoryPlace | undefined },
): Promise<HistoryEntry[] | undefined> {
  const { org_id } = sheet
  const place = after ?? { at: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
  const isAfter = sql`(at, id) < (${place.at}::bigint, ${place.id}::uuid)`
  const micros = (time: string) => sql`(extract(epoch from ${sql.raw(time)}) * 1000000)::bigint`
  const ofRow = sql`org_id = ${org_id} and row_id = ${rowId}`
  const { rows } = await sql<HistoryEntry & { is_there: boolean }>`
    with row as materialized (
      select r.row_id, r.seq from rows r where ${livingRows(sheet)} and r.row_id = ${rowId}
    ), runs_of_row as (
      select run_id, max(at) as at, sum(millis)::bigint as millis from (
        select coalesce((kept->>'run_id')::uuid, run_id) as run_id, completed_at as at, credits_millis as millis from cells where ${ofRow}
        union all select (kept->>'by')::uuid, null, 0 from cells where ${ofRow} and kept is not null
        union all select run_id, completed_at, credits_millis from former_cells where ${ofRow}
        union all select by_run, replaced_at, 0 from former_cells where ${ofRow}
        union all select run_id, null, 0 from flights where ${ofRow}
      ) parts group by run_id
    ), entries as (
      select * from (
        select ${micros('coalesce(p.at, r.created_at)')} as at, p.run_id as id, 'run' as kind, r.created_by as by, p.run_id,
          p.millis as credits_millis, null::jsonb as changes
        from runs_of_row p left join runs r on r.org_id = ${org_id} and r.run_id = p.run_id
        where p.at is not null or r.created_at is not null
      ) ran where ${isAfter}
      union all
      select * from (
        select ${micros('changed_at')} as at, change_id as id, 'edited', changed_by, null::uuid, null::bigint, changes
        from (select * from row_changes where ${ofRow} order by changed_at desc, change_id desc) c
      ) edited where ${isAfter}
      union all
      select * from (
        select ('x' || substr(row_id::text, 1, 8) || substr(row_id::text, 10, 4))::bit(48)::bigint * 1000 as at, row_id as id, 'added',
          (select a.added_by from row_authors a where a.org_id = ${org_id} and a.sheet_id = ${sheet.sheet_id} and a.from_seq <= row.seq
            order by a.from_seq desc limit 1), null::uuid, null::bigint, null::jsonb
        from row
      ) added where ${isAfter}
    ), page as (select * from entries order by at desc, id desc limit ${sql.lit(limit)})
    select page.*, row.row_id is not null as is_there
    from (select) one left join row on true left join page on row.row_id is not null order by page.at desc, page.id desc`.execute(
    db,
  )
  if (rows[0]?.is_there !== true) return undefined
  return rows.filter(({ at }) => at !== null)
}
