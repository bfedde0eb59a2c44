import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { limitSql } from '../../database/connection/limits.ts'
import { parseExact } from '../../lib/json/lossless-json.ts'
import { MAX_PAGE_BYTES, pageTooLarge } from '../../sheets/store/row-values.ts'
import type { SourceKey } from './sources.ts'

export type NewRecord = { key: string; data: string; hash: string }
export type KnownRecord = { key: string; hash: string; isImported: boolean }

/**
 * Forces lookups by key until the transaction ends. Sources grow by thousands of records before PostgreSQL updates its
 * statistics, and plans for small tables would read them whole for every page.
 */
export async function lookUpByKey(db: Db): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`.execute(db)
}

export async function findKnownRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  keys: readonly string[],
): Promise<Map<string, KnownRecord>> {
  const { rows } = await sql<KnownRecord>`
    select r.key, r.hash, r.seq is not null as "isImported" from unnest(${keys}::text[]) as t (k)
    cross join lateral (
      select key, hash, seq from source_records
      where org_id = ${org_id} and instance_id = ${instance_id} and key = t.k limit 1
    ) r`.execute(db)
  return new Map(rows.map((row) => [row.key, row]))
}

/** Returns the data of records by key. Unknown keys are left out. */
export async function readRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  keys: readonly string[],
): Promise<Map<string, Record<string, unknown>>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .selectFrom('source_records')
    .select(['key', 'data'])
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('key', 'in', [...keys])
    .execute()
  return new Map(rows.map(({ key, data }) => [key, data]))
}

/**
 * Adds records after `seq` and `change`, in their order. With null they are only noted. Call it under the source's
 * lock.
 */
export async function insertRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  records: readonly NewRecord[],
  after: { seq: number; change: number } | null,
): Promise<void> {
  const { seq = null, change = null } = after ?? {}
  for (const { text, before } of printRecords(records)) {
    await sql`insert into source_records (org_id, instance_id, key, seq, change_no, data, hash)
      select ${org_id}, ${instance_id}, t.k, ${seq}::int + ${before}::int + t.n,
        ${change}::bigint + ${before}::int + t.n, t.d, t.h
      from rows from (json_to_recordset(${text}::json) as (k text, h text, d json))
        with ordinality as t (k, h, d, n)
      order by t.n`.execute(db)
  }
}

/** Replaces the data of changed records. `change` is null for records that were only noted. */
export async function updateRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  records: readonly NewRecord[],
  change: number | null,
): Promise<void> {
  for (const { text, before } of printRecords(records)) {
    await sql`update source_records r
      set data = t.d, hash = t.h, change_no = ${change}::bigint + ${before}::int + t.n, last_seen_at = now()
      from rows from (json_to_recordset(${text}::json) as (k text, h text, d json))
        with ordinality as t (k, h, d, n)
      where r.org_id = ${org_id} and r.instance_id = ${instance_id} and r.key = t.k`.execute(db)
  }
}

export async function touchRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return
  await sql`update source_records r set last_seen_at = now() from unnest(${keys}::text[]) as t (k)
    where r.org_id = ${org_id} and r.instance_id = ${instance_id} and r.key = t.k`.execute(db)
}

/**
 * The maximum length of one statement's text. Longer texts are allocated apart from short-lived ones and accumulate
 * until memory runs out.
 */
const MAX_PRINTED = 60_000

/** Prints records for statements, some at a time. The data is JSON text already and is inserted unchanged. */
function* printRecords(records: readonly NewRecord[]): Generator<{ text: string; before: number }> {
  let items: string[] = []
  let [length, before] = [0, 0]
  for (const [n, { key, hash, data }] of records.entries()) {
    const item = `{"k":${JSON.stringify(key)},"h":"${hash}","d":${data}}`
    if (items.length > 0 && length + item.length > MAX_PRINTED) {
      yield { text: `[${items.join(',')}]`, before }
      items = []
      length = 0
      before = n
    }
    items.push(item)
    length += item.length + 1
  }
  if (items.length > 0) yield { text: `[${items.join(',')}]`, before }
}

/**
 * Lists imported records by number, in import order. Deep pages cost the same as the first; pages that are too large
 * are refused.
 */
export async function listRecords(
  db: Db,
  { org_id, instance_id }: SourceKey,
  { offset, limit }: { offset: number; limit: number },
): Promise<Record<string, unknown>[]> {
  const page = sql`from source_records
    where org_id = ${org_id} and instance_id = ${instance_id} and seq > ${offset}::int and seq <= ${offset + limit}::int`
  const { rows: measured } = await sql<{ count: number; bytes: number }>`
    select count(*) as count, coalesce(sum(octet_length(data::text)), 0) as bytes ${page}`.execute(db)
  const { count = 0, bytes = 0 } = measured[0] ?? {}
  // A single record is never too large.
  if (bytes > MAX_PAGE_BYTES && count > 1) throw pageTooLarge('records', count, bytes, count)
  const { rows } = await sql<{ data: string }>`select data::text as data ${page} order by seq`.execute(db)
  return rows.map(({ data }) => parseExact(data) as Record<string, unknown>)
}

const SAMPLE = 200

/** Returns the field names of the latest records. */
export async function listFieldNames(db: Db, { org_id, instance_id }: SourceKey): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select distinct json_object_keys(data) as name from (
      select data from source_records where org_id = ${org_id} and instance_id = ${instance_id} and seq is not null
      order by seq desc limit ${sql.lit(SAMPLE)}) latest`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Counts the records of all sources of an organisation. The limit is the same as for rows. */
export async function measureRecords(
  db: Db,
  orgId: string,
): Promise<{ records: number; limit: number | null }> {
  const { rows } = await sql<{ records: number; limit: number | null }>`
    select coalesce(sum(lead_count), 0)::bigint as records, ${limitSql('rowsPerOrg')} as limit
    from sources where org_id = ${orgId} and status <> 'deleted'`.execute(db)
  return rows[0] ?? { records: 0, limit: null }
}
