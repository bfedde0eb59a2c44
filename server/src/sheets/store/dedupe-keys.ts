import { type RawBuilder, sql } from 'kysely'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { KEYED } from '../../database/connection/statement-names.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/**
 * The values that rows are compared by: inputs, by the numbers of their columns; or the values that an action names for
 * each row.
 */
export type Compared = ComparedInputs | { action: string }
export type ComparedInputs = { columns: readonly number[]; ignoreCase: boolean }

/** Plans for rows in flight, on connections of the engine: each row is looked up by its key. */
const keyed = sql.raw(KEYED)

/** The number of rows that one transaction indexes. Small, so that other transactions wait for it only briefly. */
const CHUNK = 20_000

/**
 * Returns for each row whether an earlier row has the same values, or null while the earlier rows are not all indexed.
 * Only rows with the same key are looked at. The key is computed before they are looked up, because the result of a
 * function is no way into the index of a table with row-level security. The condition on numbers is written with `is
 * true`, so that no index is used for it either.
 */
export async function findEarlierRows(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  rowIds: readonly string[],
  compared: Compared,
): Promise<(boolean | null)[]> {
  const columns = nameOf(compared)
  const { rows } = await sql<{ row_id: string; known: boolean; earlier: boolean }>`${keyed}
    with me as materialized (
      select r.row_id, r.seq, ${'columns' in compared ? keyOf(compared) : storedKey(columns)} as key
      from unnest(${rowIds}::uuid[]) as asked (row_id)
      cross join lateral (select * from rows where org_id = ${org_id} and row_id = asked.row_id offset 0) r
    )
    select me.row_id, ${'action' in compared} or coalesce((select p.up_to from dedupe_progress p
        where p.org_id = ${org_id} and p.sheet_id = ${sheet_id} and p.columns = ${columns}), 0) >= me.seq as known,
      exists (
        select from dedupe_keys k
        where k.org_id = ${org_id} and k.sheet_id = ${sheet_id} and k.columns = ${columns} and k.key = me.key
          and (k.seq < me.seq
            and k.seq >= (select first_seq from sheet_counters c where c.org_id = ${org_id} and c.sheet_id = ${sheet_id})) is true
          and exists (select from rows r where r.org_id = k.org_id and r.sheet_id = k.sheet_id and r.seq = k.seq offset 0)
      ) as earlier
    from me`.execute(db)
  const found = new Map(rows.map(({ row_id, known, earlier }) => [row_id, known ? earlier : null]))
  return rowIds.map((rowId) => found.get(rowId) ?? (found.has(rowId) ? null : false))
}

/** Indexes the next rows of the sheet. Returns false if another transaction is doing so; the caller waits elsewhere. */
export async function extendKeys(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  compared: ComparedInputs,
): Promise<boolean> {
  const columns = nameOf(compared)
  await sql`insert into dedupe_progress (org_id, sheet_id, columns) values (${org_id}, ${sheet_id}, ${columns})
    on conflict do nothing`.execute(db)
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ up_to: string }>`select up_to from dedupe_progress
      where org_id = ${org_id} and sheet_id = ${sheet_id} and columns = ${columns}
      for update skip locked`.execute(trx)
    const from = rows[0]?.up_to
    if (from === undefined) return false
    // Rows are numbered under a lock that is held until they are committed, so no row appears later with a number below
    // the last one.
    await sql`
      with next as materialized (
        select r.seq, ${keyOf(compared)} as key from rows r
        where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq > ${from}::bigint
        order by r.seq limit ${sql.lit(CHUNK)}
      ), added as (
        insert into dedupe_keys (org_id, sheet_id, columns, key, seq)
        select ${org_id}, ${sheet_id}, ${columns}, key, seq from next on conflict do nothing
      )
      update dedupe_progress set up_to = (select max(seq) from next)
      where org_id = ${org_id} and sheet_id = ${sheet_id} and columns = ${columns} and exists (select from next)`.execute(
      trx,
    )
    return true
  })
}

/**
 * Replaces the keys of rows whose values have changed, and of no other rows. A transaction that is indexing rows at
 * this moment is waited for, so that it does not store the old values.
 */
export async function replaceKeys(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  seqs: readonly number[],
): Promise<void> {
  const { rows } = await sql<{ columns: string; up_to: string }>`select columns, up_to from dedupe_progress
    where org_id = ${org_id} and sheet_id = ${sheet_id} order by columns for update`.execute(trx)
  for (const { columns, up_to } of rows) {
    await sql`delete from dedupe_keys where org_id = ${org_id} and sheet_id = ${sheet_id}
      and columns = ${columns} and seq = any(${seqs}::bigint[])`.execute(trx)
    await sql`
      insert into dedupe_keys (org_id, sheet_id, columns, key, seq)
      select ${org_id}, ${sheet_id}, ${columns}, ${keyOf(comparedBy(columns))}, r.seq from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq = any(${seqs}::bigint[])
        and r.seq <= ${up_to}::bigint
      on conflict do nothing`.execute(trx)
  }
}

export type NamedRow = { rowId: string; key: Buffer }

/**
 * Stores the values of rows as their action has found them, in place of those of an earlier run. Returns the numbers of
 * the rows, which are locked in their order. The number is null for a deleted row.
 */
export async function registerKeys(
  db: Db,
  { org_id, sheet_id, run_id }: SheetKey & { run_id: string },
  named: readonly NamedRow[],
  compared: { action: string },
): Promise<(string | null)[]> {
  const columns = nameOf(compared)
  // If a row names its values twice, the last ones count.
  const keys = new Map(named.map(({ rowId, key }) => [rowId, key]))
  const { rows } = await sql<{ row_id: string; seq: string }>`${keyed}
    with me as materialized (
      select r.row_id, r.seq, named.key
      from unnest(${[...keys.keys()]}::uuid[], ${[...keys.values()]}::bytea[]) as named (row_id, key)
      cross join lateral (select * from rows where org_id = ${org_id} and row_id = named.row_id offset 0) r
      where r.sheet_id = ${sheet_id}
      order by r.seq
    ), replaced as (
      delete from dedupe_keys k where k.org_id = ${org_id} and k.sheet_id = ${sheet_id} and k.columns = ${columns}
        and k.seq = any(array(select seq from me)) and k.key <> (select me.key from me where me.seq = k.seq)
    ), added as (
      insert into dedupe_keys as k (org_id, sheet_id, columns, key, seq, run_id)
      select ${org_id}, ${sheet_id}, ${columns}, key, seq, ${run_id} from me
      on conflict (org_id, sheet_id, columns, key, seq) do update set run_id = excluded.run_id
        where k.run_id is distinct from excluded.run_id
    )
    select row_id, seq from me`.execute(db)
  const seqs = new Map(rows.map(({ row_id, seq }) => [row_id, seq]))
  return named.map(({ rowId }) => seqs.get(rowId) ?? null)
}

/**
 * Returns the number of the first row whose values the action has not named yet in its run, among rows in flight or
 * still to be enqueued. Returns null if there is none.
 */
export async function findFrontier(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  action: string,
): Promise<string | null> {
  const columns = nameOf({ action })
  const { rows } = await sql<{ seq: string | null }>`
    select least((
      select min(lower((u.unlaunched->>'rows')::int8multirange)) from runs u
      where u.org_id = ${org_id} and u.sheet_id = ${sheet_id} and u.state = 'running' and u.unlaunched is not null
        and ${action} = any (u.actions)
    ), min(r.seq)) as seq
    from runs u
    join flights f on f.org_id = u.org_id and f.run_id = u.run_id
    join rows r on r.org_id = f.org_id and r.row_id = f.row_id
    where u.org_id = ${org_id} and u.sheet_id = ${sheet_id} and u.state = 'running' and ${action} = any (u.actions)
      and not exists (select from dedupe_keys k where k.org_id = ${org_id} and k.sheet_id = ${sheet_id}
        and k.columns = ${columns} and k.seq = r.seq and k.run_id = f.run_id)
      and not exists (select from cells c where c.org_id = f.org_id and c.row_id = f.row_id and c.action = ${action}
        and c.run_id = f.run_id)`.execute(db)
  return rows[0]?.seq ?? null
}

function nameOf(compared: Compared): string {
  if ('action' in compared) return compared.action
  return `${compared.columns.join(',')}${compared.ignoreCase ? ' i' : ''}`
}

/** Parses what `nameOf` returns for inputs. Progress is stored for inputs alone. */
function comparedBy(name: string): ComparedInputs {
  const [columns = ''] = name.split(' ')
  return { columns: columns.split(',').map(Number), ignoreCase: name.endsWith(' i') }
}

function storedKey(columns: string): RawBuilder<unknown> {
  return sql`(select k.key from dedupe_keys k where k.org_id = r.org_id and k.sheet_id = r.sheet_id
    and k.columns = ${columns} and k.seq = r.seq limit 1)`
}

function keyOf({ columns, ignoreCase }: ComparedInputs): RawBuilder<unknown> {
  const texts = columns.map((column) => {
    const text = sql`coalesce(r.data ->> ${sql.lit(String(column))}, '')`
    return ignoreCase ? sql`lower(${text})` : text
  })
  return sql`sha256(convert_to(jsonb_build_array(${sql.join(texts)})::text, 'UTF8'))`
}
