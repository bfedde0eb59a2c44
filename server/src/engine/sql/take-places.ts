/**
 * Says how many calls a process (`$2`) has under way in a bucket (`$1`) and asks for `$4` more, of at most `$5` among all
 * processes. The gate's record is the lock. Processes that were not heard of for `$6` milliseconds do not count.
 */
export const TAKE_PLACES = `
with gate as (
  insert into provider_gates (bucket) values ($1) on conflict (bucket) do update set bucket = excluded.bucket returning bucket
), others as (
  select coalesce(sum(c.under_way), 0)::int as under_way from gate join provider_calls c on c.bucket = gate.bucket
  where c.holder <> $2 and c.beat_at > now() - $6::int * interval '1 millisecond'
), places as (
  select greatest(0, least($4::int, $5::int - $3::int - under_way))::int as granted from others
), noted as (
  insert into provider_calls (bucket, holder, under_way) select $1, $2, $3::int + granted from places
  on conflict (bucket, holder) do update set under_way = excluded.under_way, beat_at = now()
)
select granted from places`
