import { sql } from 'kysely'
import type { Db, Store } from '../../database/connection/db.ts'
import { MILLIS } from './credits.ts'

/** The sums of one provider for one action of an organisation on one day. */
export type ProviderTally = {
  org: string
  /** The day in UTC, such as 2026-03-01. */
  day: string
  action: string
  provider: string
  asked: number
  found: number
  verified: number
  creditsMillis: number
  /** The number of answers by duration: place n counts those below 2^(n+1) ms, the last place all others. */
  times: number[]
}

export const TIME_PLACES = 18

const ADD = `
insert into provider_tallies as t (org_id, day, action, provider, asked, found, verified, credits_millis, times)
select i.org, i.day, i.action, i.provider, i.asked, i.found, i.verified, i."creditsMillis", i.times
from jsonb_to_recordset($1::jsonb) as i (org uuid, day date, action text, provider text, asked bigint, found bigint,
  verified bigint, "creditsMillis" bigint, times bigint[])
where exists (select from organisations o where o.org_id = i.org)
-- Rows are always locked in this order, because several processes add to the same rows.
order by i.org, i.day, i.action, i.provider
on conflict (org_id, day, action, provider) do update set asked = t.asked + excluded.asked, found = t.found + excluded.found,
  verified = t.verified + excluded.verified, credits_millis = t.credits_millis + excluded.credits_millis,
  times = (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by n)
    from unnest(t.times, excluded.times) with ordinality as u (a, b, n))`

export async function addProviderTallies(store: Store, tallies: readonly ProviderTally[]): Promise<void> {
  await store.query({ name: 'provider-tallies-add', text: ADD, values: [JSON.stringify(tallies)] })
}

export type HitRate = {
  action: string
  provider: string
  asked: number
  found: number
  verified: number
  /** The credits for each find; null while nothing was found. */
  price_per_find: number | null
  /** The median duration of an answer; null while no duration is known. */
  p50_ms: number | null
}

/** The number of days that rates shown to callers cover. */
export const RATE_DAYS = 30

type Filter = { days: number; action?: string | undefined }

/** Reads the rates of providers for an organisation over the last days, including today. */
export async function readHitRates(db: Db, orgId: string, { days, action }: Filter): Promise<HitRate[]> {
  const { rows } = await sql<{
    action: string
    provider: string
    asked: number
    found: number
    verified: number
    credits_millis: number
    times: number[]
  }>`
    select action, provider, sum(asked)::float8 as asked, sum(found)::float8 as found, sum(verified)::float8 as verified,
      sum(credits_millis)::float8 as credits_millis,
      array(select sum(p.times[n])::float8 from provider_tallies p, generate_series(1, ${TIME_PLACES}::int) n
        where p.org_id = ${orgId} and p.day > (now() at time zone 'UTC')::date - ${days}::int
          and p.action = t.action and p.provider = t.provider
        group by n order by n) as times
    from provider_tallies t
    where org_id = ${orgId} and day > (now() at time zone 'UTC')::date - ${days}::int
      and (${action ?? null}::text is null or action = ${action ?? null}::text)
    group by action, provider order by action, asked desc, provider`.execute(db)
  return rows.map(({ credits_millis, times, ...rate }) => ({
    ...rate,
    price_per_find: rate.found === 0 ? null : Math.round(credits_millis / rate.found) / MILLIS,
    p50_ms: estimateMedian(times),
  }))
}

/** Estimates the median. Within its place, durations are assumed to be spread evenly. */
function estimateMedian(times: readonly number[]): number | null {
  const all = times.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let before = 0
  for (const [place, count] of times.entries()) {
    if (before + count >= all / 2) {
      const [from, to] = [place === 0 ? 0 : 2 ** place, 2 ** (place + 1)]
      return Math.round(from + ((all / 2 - before) / count) * (to - from))
    }
    before += count
  }
  return null
}

const KEPT_DAYS = 100

export async function forgetOldTallies(db: Db): Promise<void> {
  await sql`delete from provider_tallies where day < (now() at time zone 'UTC')::date - ${KEPT_DAYS}::int`.execute(
    db,
  )
}
