/**
 * Reports how many calls (`$3`) a process (`$2`) has under way in a bucket and asks for `$4` more, of at most `$5`
 * among all processes. One record under one lock. Processes that were not heard of for `$6` milliseconds do not count.
 * While others wait, heard of within `$7` milliseconds, a process takes no more than its even share.
 */
export const TAKE_PLACES = `
insert into provider_gates as g (bucket, calls)
values ($1, jsonb_build_object($2::text, jsonb_build_array(
  $3::int + greatest(0, least($4::int, $5::int - $3::int)), extract(epoch from clock_timestamp()) * 1000,
  $4::int - greatest(0, least($4::int, $5::int - $3::int)))))
on conflict (bucket) do update set calls = (
  with living as (
    select key, value, (value->>2)::int > 0
      and (value->>1)::float8 > extract(epoch from clock_timestamp()) * 1000 - $7::int as wants
    from jsonb_each(g.calls)
    where key <> $2 and (value->>1)::float8 > extract(epoch from clock_timestamp()) * 1000 - $6::int
  ), others as (
    select coalesce(sum((value->>0)::int), 0)::int as calls, (count(*) filter (where wants))::int as wanting from living
  ), answer as (
    select greatest(0, least($4::int, $5::int - $3::int - calls,
      case when wanting = 0 then $4::int else greatest(1, $5::int / (1 + wanting)) - $3::int end)) as granted
    from others
  )
  select jsonb_build_object($2::text, jsonb_build_array(
      $3::int + granted, extract(epoch from clock_timestamp()) * 1000, $4::int - granted))
    || coalesce((select jsonb_object_agg(key, value) from living), '{}')
  from answer)
returning (calls->$2->>0)::int - $3::int as granted`
