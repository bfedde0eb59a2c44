import { sql } from 'kysely'
import type { Db, Store } from '../../database/connection/db.ts'
import type { SourceStatus } from '../../database/tables/source-tables.ts'
import type { SourceKey } from './sources.ts'

export type TokenKind = 'pixel' | 'webhook'
export type NewToken = { kind: TokenKind; hash: Buffer; sealed: string }

export async function insertTokens(
  db: Db,
  { org_id, instance_id }: SourceKey,
  tokens: readonly NewToken[],
): Promise<void> {
  if (tokens.length === 0) return
  await db
    .insertInto('source_tokens')
    .values(
      tokens.map(({ kind, hash, sealed }) => ({
        org_id,
        instance_id,
        kind,
        token_hash: hash,
        token_sealed: sealed,
      })),
    )
    .execute()
}

export async function listTokens(
  db: Db,
  { org_id, instance_id }: SourceKey,
): Promise<{ kind: TokenKind; token_sealed: string }[]> {
  return db
    .selectFrom('source_tokens')
    .select(['kind', 'token_sealed'])
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .execute()
}

/** The source whose address was called, and whether the call is within its limit. */
export type SourceDoor = SourceKey & {
  kind: TokenKind
  slug: string
  body: Record<string, unknown>
  status: SourceStatus
  granted: boolean
}

type Row = Omit<SourceDoor, 'granted'> & { token: string; granted: number | null }

/**
 * Looks up the addresses of a whole batch and counts the calls in one statement, by the database's clock: a window of a
 * minute per address, exact across processes. Sources that are not active are not counted.
 */
const ADMIT = `
with visited as (
  select hash, count(*)::int as hits from unnest($1::bytea[]) as v (hash) group by hash
), door as (
  select v.hash, v.hits, t.kind, t.kind || ' ' || s.instance_id as bucket, s.org_id, s.instance_id, s.slug, s.body, s.status
  from visited v join source_tokens t on t.token_hash = v.hash
  join sources s on s.org_id = t.org_id and s.instance_id = t.instance_id and s.status <> 'deleted'
), counted as (
  insert into rate_windows as w (bucket, minute, minute_used, day, day_used, granted, per_minute, per_day)
  select bucket, date_trunc('minute', now(), 'UTC'), least(hits, $2::int), date_trunc('day', now(), 'UTC'), 0, hits,
    $2::int, $2::int
  -- In a fixed order, so that two batches cannot deadlock.
  from door where status = 'active' order by bucket
  on conflict (bucket) do update set (minute, minute_used, day, granted, per_minute) = (
    select greatest(w.minute, excluded.minute), m.used + g.granted, excluded.day, g.granted, excluded.per_minute
    from (select case when w.minute >= excluded.minute then w.minute_used else 0 end as used) m,
      lateral (select greatest(0, least(excluded.granted, excluded.per_minute - m.used)) as granted) g)
  returning bucket, least(granted, per_minute) as granted
)
select encode(d.hash, 'hex') as token, d.kind, d.org_id, d.instance_id, d.slug, d.body, d.status, c.granted
-- Does not wait for the disk: losing the last counts in a crash does no harm.
from (select set_config('synchronous_commit', 'off', true)) as unflushed, door d left join counted c using (bucket)`

/** Returns one result per token hash, or null if no source has it. */
export async function admitArrivals(
  store: Pick<Store, 'query'>,
  hashes: Buffer[],
  perMinute: number,
): Promise<(SourceDoor | null)[]> {
  const rows = await store.query<Row>({ name: 'admit-arrivals', text: ADMIT, values: [hashes, perMinute] })
  const doors = new Map(rows.map((row) => [row.token, { row, taken: 0 }]))
  return hashes.map((hash) => {
    const door = doors.get(hash.toString('hex'))
    if (door === undefined) return null
    door.taken += 1
    const { token: _token, granted, ...source } = door.row
    return { ...source, granted: door.taken <= (granted ?? 0) }
  })
}

/** Returns the salt of the day, by the database's clock. The first caller of a day creates it. */
export async function saltOfDay(db: Db, fresh: Buffer): Promise<Buffer> {
  const { rows } = await sql<{ salt: Buffer }>`
    with made as (
      insert into visit_salts (day, salt) values ((now() at time zone 'UTC')::date, ${fresh})
      on conflict (day) do nothing returning salt
    )
    select salt from made
    union all select salt from visit_salts where day = (now() at time zone 'UTC')::date limit 1`.execute(db)
  // Another process has just created it, and this statement does not see it yet.
  return rows[0]?.salt ?? saltOfDay(db, fresh)
}
