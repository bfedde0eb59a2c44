/** When a stored answer was completed, in milliseconds: a number is read sooner than a date. */
export const completedMs = (table: string) => `(extract(epoch from ${table}.completed_at) * 1000)::float8`

/**
 * The stored outputs of identical cells, for those that have any. Keys are sent as bytes: with row-level security a condition in
 * which a function such as `decode` is applied to a column is no way into an index.
 */
export const FIND_HITS = `
select i.n::int, c.outputs::text as outputs, c.run_id, ${completedMs('c')} as at, c.credits_millis as millis
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::bytea[], $6::date[])
  with ordinality as i (o, s, act, ep, key, since, n)
join cell_cache c on c.org_id = i.o and c.sheet_id = i.s and c.action = i.act and c.epoch = i.ep and c.key = i.key
where i.since is null or c.completed_at >= i.since at time zone 'UTC'`
