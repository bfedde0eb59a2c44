import type { Store } from '../../../database/connection/db.ts'
import type { Window } from '../../../organisation/store/admission.ts'
import type { SheetRecord } from '../../../sheets/store/sheets.ts'

/** A delivery to a webhook that exists and is on. */
export type WebhookAdmission = {
  sheet: SheetRecord
  /** The limit of what its deliveries may cost a day. */
  capMillis: number | null
  granted: boolean
  minute: Window
  now: number
}

type Row = SheetRecord & {
  token: string
  max_credits_millis: number | null
  granted: number
  minute_used: number
  minute: Date
  now: Date
}

/**
 * Looks up the webhooks of a whole batch and counts its deliveries in one statement, by the database's clock: one fixed
 * window of a minute per webhook, exact across processes. Refused deliveries are not counted.
 */
const ADMIT = `
with visited as (
  select hash, count(*)::int as hits from unnest($1::bytea[]) as v (hash) group by hash
), hook as (
  select v.hash, v.hits, 'hook ' || s.sheet_id as bucket, w.max_credits_millis, s.*
  from visited v join webhooks w on w.token_hash = v.hash and w.enabled
  join sheets s on s.org_id = w.org_id and s.sheet_id = w.sheet_id and s.deleted_at is null
), counted as (
  insert into rate_windows as w (bucket, minute, minute_used, day, day_used, granted, per_minute, per_day)
  select bucket, date_trunc('minute', now(), 'UTC'), least(hits, $2::int), date_trunc('day', now(), 'UTC'), 0, hits,
    $2::int, $2::int
  -- In one order, so that two batches cannot deadlock.
  from hook order by bucket
  on conflict (bucket) do update set (minute, minute_used, day, granted, per_minute) = (
    select greatest(w.minute, excluded.minute), m.used + g.granted, excluded.day, g.granted, excluded.per_minute
    -- A delivery that waited here over the turn of the minute counts in the new one.
    from (select case when w.minute >= excluded.minute then w.minute_used else 0 end as used) m,
      lateral (select greatest(0, least(excluded.granted, excluded.per_minute - m.used)) as granted) g)
  returning bucket, minute, minute_used, least(granted, per_minute) as granted
)
select encode(h.hash, 'hex') as token, h.org_id, h.sheet_id, h.workflow_id, h.name, h.position, h.owner_id, h.auto_run,
  h.cache_enabled, h.cache_since, h.continue_on_fail, h.revision, h.next_column, h.action_serials, h.created_at,
  h.max_credits_millis, c.granted, c.minute_used, c.minute, now() as now
-- Nobody waits for the disk: should the database crash, the counts of its last moments are no loss.
from (select set_config('synchronous_commit', 'off', true)) as unflushed, hook h join counted c using (bucket)`

/** Returns an answer for each hash of a token, or null if no webhook has it. */
export async function admitDeliveries(
  store: Pick<Store, 'query'>,
  hashes: Buffer[],
  perMinute: number,
): Promise<(WebhookAdmission | null)[]> {
  const rows = await store.query<Row>({ name: 'admit-deliveries', text: ADMIT, values: [hashes, perMinute] })
  const hooks = new Map(rows.map((row) => [row.token, { row, taken: 0 }]))
  return hashes.map((hash) => {
    const hook = hooks.get(hash.toString('hex'))
    if (hook === undefined) return null
    hook.taken += 1
    const {
      token: _token,
      max_credits_millis: capMillis,
      granted,
      minute_used,
      minute,
      now,
      ...sheet
    } = hook.row
    const ours = hook.taken <= granted
    // The count is that after the whole batch; the deliveries after this one have not happened for it.
    const used = minute_used - (ours ? granted - hook.taken : 0)
    return {
      sheet,
      capMillis,
      granted: ours,
      minute: { limit: perMinute, used, resetsAt: minute.getTime() / 1000 + 60 },
      now: now.getTime() / 1000,
    }
  })
}
