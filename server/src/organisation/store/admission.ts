import { sql } from 'kysely'
import type { QueryConfig } from 'pg'
import type { Db, Store } from '../../database/connection/db.ts'
import {
  LIVING_SHEETS,
  SHARES,
  SHEET_COLUMNS,
  type SheetWithWorkflow,
  type SheetWithWorkflowRow,
  toSheetWithWorkflow,
} from '../../sheets/store/sheets.ts'
import { IDLE_DAYS } from './sessions.ts'

/** A request to admit: the hash of its key or session, if that is well-formed, and the client's address. */
export type Visitor = {
  hash: Buffer | null
  address: string
  /** The sheet in the path. The same statement finds it, if the key's organisation has it. */
  sheet?: PathSheet | null
}
export type PathSheet = { workflowId: string; sheetId: string }

export type KeyHolder = {
  org_id: string
  key_id: string
  member_id: string
  email: string
  role: string
  scopes: string[] | null
  allowed_workflow_ids: string[] | null
  is_session: boolean
}

/**
 * The factor by which the limits of a session exceed those of a key: a page sends requests more often than a
 * program.
 */
const SESSION_FACTOR = 20

/** The state of a rate-limit window after this request was counted. */
export type Window = { limit: number; used: number; resetsAt: number }
export type Admission = {
  holder: KeyHolder | null
  /** Says whether the stored time of the key's last use is old and must be written by `noteUses`. */
  isUseDue: boolean
  granted: boolean
  minute: Window
  day: Window
  now: number
  /** The sheet, found without checking that the member may use it. */
  sheet: SheetWithWorkflow | null
}

type Row = Omit<KeyHolder, 'org_id'> &
  Partial<SheetWithWorkflowRow> & {
    bucket: string
    key_org_id: string
    is_use_due: boolean
    granted: number
    minute_used: number
    day_used: number
    per_minute: number
    per_day: number
    now: number
  }

const USE_IS_DUE = `last_used_at is null or last_used_at < now() - interval '10 seconds'`

/** Finds the sheets in the paths, which the requests would read next. */
const PLACES = `
left join lateral (
  select ${SHEET_COLUMNS}, exists (select from ${SHARES} and h.member_id = who.member_id) as is_shared
  ${LIVING_SHEETS} and w.org_id = who.org_id and w.workflow_id = who.workflow_id and s.sheet_id = who.sheet_id
) place on who.email is not null`

type Form = 'one' | 'many'
/** The source of the requests. Both forms take the same parameters, as single values or as lists. */
const VISITORS: Record<Form, (withSheets: boolean) => string> = {
  one: (withSheets) => `(select $1::bytea, $2::text${withSheets ? ', $5::uuid, $6::uuid' : ''}, 1)`,
  // The lists are hidden in selects: a custom plan for their lengths seems so much cheaper to PostgreSQL that
  // it would plan every batch again.
  many: (withSheets) => `unnest((select $1::bytea[]), (select $2::text[])
    ${withSheets ? ', (select $5::uuid[]), (select $6::uuid[])' : ''}) with ordinality`,
}
const WANTED: Record<Form, string> = {
  one: '(select bucket, 1 as hits, per_minute, per_day from who) as wanted',
  // The buckets are sorted, so that two batches cannot deadlock.
  many: `(select bucket, count(*)::int as hits, min(per_minute) as per_minute, min(per_day) as per_day
    from who group by bucket) as wanted order by bucket`,
}

/**
 * Looks up the keys and the sheets in the paths, and counts the requests of a whole batch, in one statement.
 * Each bucket (a key, or a client address without a valid key) has two fixed windows by the database's clock,
 * so the limit is exact across processes. A refused request is not counted. Most batches have one request:
 * the form for those has fewer parts, since the extra parts cost more than they do.
 */
const admitStatement = (form: Form, withSheets: boolean): string => `
with who as (
  select v.n, ${withSheets ? 'v.workflow_id, v.sheet_id, ' : ''}k.org_id, k.key_id, k.member_id, k.scopes, k.allowed_workflow_ids, k.is_session, m.email, m.role,
    ${USE_IS_DUE} as is_use_due,
    case when m.email is null then 'address ' || v.address else 'key ' || k.key_id end as bucket,
    case when m.email is null then $3::int when k.is_session then least(2147483647, $3::bigint * ${SESSION_FACTOR})::int
      else coalesce(k.per_minute, $3::int) end as per_minute,
    case when m.email is null then $4::int when k.is_session then least(2147483647, $4::bigint * ${SESSION_FACTOR})::int
      else coalesce(k.per_day, $4::int) end as per_day
  from ${VISITORS[form](withSheets)} as v (hash, address${withSheets ? ', workflow_id, sheet_id' : ''}, n)
  left join api_keys k on k.hash = v.hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    and (not k.is_session or k.last_used_at > now() - interval '${IDLE_DAYS} days')
  left join members m on m.org_id = k.org_id and m.member_id = k.member_id
), counted as (
  insert into rate_windows as w (bucket, minute, minute_used, day, day_used, granted, per_minute, per_day)
  select bucket, date_trunc('minute', now(), 'UTC'), least(hits, per_minute, per_day),
    date_trunc('day', now(), 'UTC'), least(hits, per_minute, per_day), hits, per_minute, per_day
  from ${WANTED[form]}
  on conflict (bucket) do update set
    (minute, minute_used, day, day_used, granted, per_minute, per_day) = (
      select excluded.minute, m.used + g.granted, excluded.day, d.used + g.granted, g.granted,
        excluded.per_minute, excluded.per_day
      from (select case when w.minute = excluded.minute then w.minute_used else 0 end as used) m,
        (select case when w.day = excluded.day then w.day_used else 0 end as used) d,
        lateral (select greatest(0, least(excluded.granted, excluded.per_minute - m.used,
          excluded.per_day - d.used)) as granted) g)
  returning bucket, minute_used, day_used, least(granted, per_minute, per_day) as granted, per_minute, per_day
)
select who.org_id as key_org_id, who.key_id, who.member_id, who.email, who.role, who.scopes, who.allowed_workflow_ids,
  who.is_session, who.is_use_due${withSheets ? ', place.*' : ''}, c.granted, c.minute_used, c.day_used, c.per_minute, c.per_day,
  extract(epoch from now())::float8 as now, who.bucket
-- The commit does not wait for the disk: losing the last counts in a crash does no harm.
from (select set_config('synchronous_commit', 'off', true)) as unflushed, who join counted c using (bucket)${withSheets ? PLACES : ''}
${form === 'many' ? 'order by who.n' : ''}`
const STATEMENTS = {
  one: { name: 'admit-one', text: admitStatement('one', false) },
  oneToSheet: { name: 'admit-one-to-sheet', text: admitStatement('one', true) },
  many: { name: 'admit', text: admitStatement('many', false) },
  manyToSheets: { name: 'admit-to-sheets', text: admitStatement('many', true) },
}

type RateLimits = { perMinute: number; perDay: number }

export async function admitAll(
  store: Pick<Store, 'query'>,
  visitors: Visitor[],
  limits: RateLimits,
): Promise<Admission[]> {
  return toAdmissions(await store.query<Row>(chooseStatement(visitors, limits)))
}

function chooseStatement(visitors: Visitor[], limits: RateLimits): QueryConfig {
  const toSheets = visitors.some(({ sheet }) => (sheet ?? null) !== null)
  const [first] = visitors
  return first !== undefined && visitors.length === 1
    ? {
        ...(toSheets ? STATEMENTS.oneToSheet : STATEMENTS.one),
        values: listValues((field) => field(first), limits, toSheets),
      }
    : {
        ...(toSheets ? STATEMENTS.manyToSheets : STATEMENTS.many),
        values: listValues((field) => visitors.map(field), limits, toSheets),
      }
}

function toAdmissions(rows: Row[]): Admission[] {
  const places = new Map<string, number>()
  return rows.map((row) => {
    const place = (places.get(row.bucket) ?? 0) + 1
    places.set(row.bucket, place)
    const granted = place <= row.granted
    // The counts are those after the whole batch. Requests after this one in the batch are subtracted.
    const behind = granted ? row.granted - place : 0
    const { now, per_minute, per_day, minute_used, day_used } = row
    return {
      holder: row.email === null ? null : toHolder(row),
      isUseDue: row.email !== null && row.is_use_due,
      granted,
      minute: { limit: per_minute, used: minute_used - behind, resetsAt: findWindowEnd(now, 60) },
      day: { limit: per_day, used: day_used - behind, resetsAt: findWindowEnd(now, 86_400) },
      now,
      sheet: hasSheet(row) ? toSheetWithWorkflow(row) : null,
    }
  })
}

function listValues(
  read: (field: (visitor: Visitor) => unknown) => unknown,
  { perMinute, perDay }: RateLimits,
  toSheets: boolean,
): unknown[] {
  const values = [read(({ hash }) => hash), read(({ address }) => address), perMinute, perDay]
  if (!toSheets) return values
  return [
    ...values,
    read(({ sheet }) => sheet?.workflowId ?? null),
    read(({ sheet }) => sheet?.sheetId ?? null),
  ]
}

/** Returns the end of a window. Windows begin at the full minute and at midnight UTC. */
function findWindowEnd(now: number, seconds: number): number {
  return (Math.floor(now / seconds) + 1) * seconds
}

function hasSheet(row: Row): row is Row & SheetWithWorkflowRow {
  return typeof row.sheet_id === 'string'
}

function toHolder(row: Row): KeyHolder {
  const { key_org_id: org_id, key_id, member_id, email, role, scopes, allowed_workflow_ids, is_session } = row
  return { org_id, key_id, member_id, email, role, scopes, allowed_workflow_ids, is_session }
}

/**
 * Writes the time of the last use of keys, if the stored time is old. It is a separate statement: a part that
 * writes would cost every admission, and it is due only once in 10 seconds.
 */
export async function noteUses(store: Pick<Store, 'query'>, keyIds: string[]): Promise<void> {
  await store.query({
    text: `update api_keys k set last_used_at = now()
      from (select set_config('synchronous_commit', 'off', true)) as unflushed, (
        -- A key that is being changed is skipped, so that the others do not wait.
        select org_id, key_id from api_keys where key_id = any($1::uuid[]) and (${USE_IS_DUE}) for no key update skip locked) due
      where k.org_id = due.org_id and k.key_id = due.key_id`,
    values: [keyIds],
  })
}

/**
 * Returns the owner of a key or session, if it is valid and the owner is still a member. Counts no request.
 */
export async function findKeyHolder(db: Db, orgId: string, keyId: string): Promise<KeyHolder | undefined> {
  return db
    .selectFrom('api_keys as k')
    .innerJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 'k.org_id').onRef('m.member_id', '=', 'k.member_id'),
    )
    .select([
      'k.org_id',
      'k.key_id',
      'm.member_id',
      'm.email',
      'm.role',
      'k.scopes',
      'k.allowed_workflow_ids',
      'k.is_session',
    ])
    .where('k.org_id', '=', orgId)
    .where('k.key_id', '=', keyId)
    .where('k.revoked_at', 'is', null)
    .where((where) =>
      where.or([where('k.expires_at', 'is', null), where('k.expires_at', '>', sql<Date>`now()`)]),
    )
    .executeTakeFirst()
}

/**
 * Deletes the counts of earlier days, which nothing reads any more: there is one row for every address that
 * ever sent a request.
 */
export async function forgetOldWindows(store: Store): Promise<void> {
  // Rows that are being counted are left for the next time: waiting for them could deadlock with a batch.
  await store.query({
    text: `delete from rate_windows where bucket in (
      select bucket from rate_windows where day < date_trunc('day', now(), 'UTC') for update skip locked)`,
  })
}
