/**
 * Hands out the next slot of a bucket; they are `$2` milliseconds apart. None beyond the horizon of `$3` milliseconds: what is
 * not handed out does not block anybody when those who asked have gone.
 */
export const TAKE_SLOT = `
insert into provider_gates as g (bucket, next_at) values ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
on conflict (bucket) do update
  set next_at = greatest(g.next_at, clock_timestamp()) + $2::float8 * interval '1 millisecond'
  where g.next_at <= clock_timestamp() + $3::float8 * interval '1 millisecond'
returning (extract(epoch from next_at - clock_timestamp()) * 1000)::float8 - $2::float8 as starts_in_ms`
