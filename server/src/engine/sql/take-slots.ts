/**
 * Hands out `$2` evenly spaced slots of a bucket, `$3` milliseconds apart, as far as they lie within the horizon of `$4`
 * milliseconds: what is not handed out does not block anybody when those who asked have gone.
 */
export const TAKE_SLOTS = `
with gate as (
  insert into provider_gates (bucket) values ($1) on conflict (bucket) do update set bucket = excluded.bucket
  returning bucket, greatest(next_at, clock_timestamp()) as first_at, clock_timestamp() as now
), slots as (
  select bucket, now, first_at, greatest(0, least($2::int,
    floor(($4::float8 - extract(epoch from first_at - now) * 1000) / $3::float8) + 1))::int as granted
  from gate
), moved as (
  update provider_gates g set next_at = s.first_at + s.granted * $3::float8 * interval '1 millisecond'
  from slots s where g.bucket = s.bucket and s.granted > 0
)
select granted, (extract(epoch from first_at - now) * 1000)::float8 as first_in_ms from slots`
