/**
 * Says how many calls (`$3`) a process (`$2`) has under way in a bucket and asks for `$4` more, of at most `$5` among all
 * processes. One record under one lock. Processes that were not heard of for `$6` milliseconds do not count.
 */
export const TAKE_PLACES = `
insert into provider_gates as g (bucket, calls)
values ($1, jsonb_build_object($2::text, jsonb_build_array(
  $3::int + greatest(0, least($4::int, $5::int - $3::int)), extract(epoch from clock_timestamp()) * 1000)))
on conflict (bucket) do update set calls = (
  with living as (
    select key, value from jsonb_each(g.calls)
    where key <> $2 and (value->>1)::float8 > extract(epoch from clock_timestamp()) * 1000 - $6::int
  )
  select jsonb_build_object($2::text, jsonb_build_array(
      $3::int + greatest(0, least($4::int, $5::int - $3::int - coalesce(sum((value->>0)::int), 0))),
      extract(epoch from clock_timestamp()) * 1000))
    || coalesce(jsonb_object_agg(key, value) filter (where key is not null), '{}')
  from living)
returning (calls->$2->>0)::int - $3::int as granted`
