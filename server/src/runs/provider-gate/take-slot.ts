/**
 * Hands out the next slot of a bucket to an organisation (`$4`). Slots are `$2` milliseconds apart. None is given
 * beyond the horizon of `$3` milliseconds, so that slots of rows that no longer exist block nobody. An organisation
 * that has a slot ahead gets no other one beyond `$5` milliseconds, so that organisations without a slot soon get the
 * next one.
 */
export const TAKE_SLOT = `
with moment as (select extract(epoch from clock_timestamp())::float8 * 1000 as now)
insert into provider_gates as g (bucket, next_at, slots)
select $1, to_timestamp((now + $2::float8) / 1000), jsonb_build_object($4::text, now) from moment
on conflict (bucket) do update
  set next_at = greatest(g.next_at, clock_timestamp()) + $2::float8 * interval '1 millisecond',
    slots = jsonb_build_object($4::text, extract(epoch from greatest(g.next_at, clock_timestamp()))::float8 * 1000)
      || coalesce((select jsonb_object_agg(key, value) from jsonb_each(g.slots)
        where key <> $4 and value::float8 > extract(epoch from clock_timestamp()) * 1000), '{}')
  where g.next_at <= clock_timestamp() + interval '1 millisecond' *
    case when (g.slots->>$4)::float8 > extract(epoch from clock_timestamp()) * 1000 then $5::float8 else $3::float8 end
returning (extract(epoch from next_at - clock_timestamp()) * 1000)::float8 - $2::float8 as starts_in_ms`
