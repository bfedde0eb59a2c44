import { sql } from 'kysely'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** The rows of one statement: few, so that others wait for it only briefly. */
const CHUNK = 2000
/** The characters of a value that are read. Longer texts fit no type but text. */
const MAX_CHARACTERS = 20_000

const firstSeq = ({ org_id, sheet_id }: SheetKey) =>
  sql`(select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})`

/** Reads the values of a column in the order of the rows, page by page. Structures become empty objects. */
export async function* readColumn(db: Db, sheet: SheetKey, column: number): AsyncGenerator<unknown[]> {
  const key = String(column)
  let after = '0'
  for (;;) {
    const { rows } = await sql<{ seq: string; kind: string | null; text: string | null }>`
      select r.seq::text as seq, jsonb_typeof(r.data -> ${key}) as kind, left(r.data ->> ${key}, ${sql.lit(MAX_CHARACTERS)}) as text
      from rows r where r.org_id = ${sheet.org_id} and r.sheet_id = ${sheet.sheet_id} and r.seq > ${after}::bigint
        and r.seq >= ${firstSeq(sheet)}
      order by r.seq limit ${sql.lit(CHUNK)}`.execute(db)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ kind, text }) => {
      if (kind === 'object' || kind === 'array') return {}
      return kind === 'boolean' ? text === 'true' : text
    })
    after = last.seq
  }
}

/** Reserves the number of a column for good, before an input has it. */
export async function reserveColumn(db: Db, { org_id, sheet_id }: SheetKey): Promise<number | undefined> {
  const { rows } = await sql<{ column: number }>`update sheets set next_column = next_column + 1
    where org_id = ${org_id} and sheet_id = ${sheet_id} and deleted_at is null
    returning next_column - 1 as column`.execute(db)
  return rows[0]?.column
}

/** The columns of a copy, and how far it has come: the last row, and the values that were left out as too large. */
export type ColumnCopy = { from: number; to: number; after: string; leftOut: number }

/** Copies the values of the next rows. Returns undefined if there are no more rows. */
export async function copyChunk(
  db: Db,
  sheet: SheetKey,
  { from, to, after, leftOut }: ColumnCopy,
): Promise<ColumnCopy | undefined> {
  const { org_id, sheet_id } = sheet
  const { rows } = await sql<{ last: string | null; found: number; copied: number }>`
    with next as materialized (
      select r.row_id, r.seq, r.data ? ${String(from)} as has_value from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq > ${after}::bigint and r.seq >= ${firstSeq(sheet)}
      order by r.seq limit ${sql.lit(CHUNK)}
    ), locked as materialized (
      select r.row_id, r.data || jsonb_build_object(${String(to)}::text, r.data -> ${String(from)}) as data
      from (select row_id from next where has_value) n
      join rows r on r.org_id = ${org_id} and r.row_id = n.row_id
      where r.data ? ${String(from)}
      order by r.row_id for update of r
    ), copied as (
      update rows r set data = l.data from locked l
      where r.org_id = ${org_id} and r.row_id = l.row_id and octet_length(l.data::text) <= ${MAX_ROW_BYTES}
      returning 1
    )
    select (select max(seq) from next)::text as last, (select count(*) from locked)::int as found,
      (select count(*) from copied)::int as copied`.execute(db)
  const [done] = rows
  if (done === undefined || done.last === null) return undefined
  return { from, to, after: done.last, leftOut: leftOut + done.found - done.copied }
}
