/** When a stored answer was completed, in milliseconds: a number is read sooner than a date, and made sooner than a decimal. */
export const completedMs = (table: string) =>
  // Of microseconds, which a double has exactly only as whole numbers.
  `round(date_part('epoch', ${table}.completed_at) * 1e6) / 1e3`

/** What many cells of a batch have in common is sent once (1 to 5), and of each cell only which of those it has (6). */
export const ASKED_KEY = {
  o: '($1::uuid[])[i.g]',
  s: '($2::uuid[])[i.g]',
  act: '($3::text[])[i.g]',
  ep: '($4::int[])[i.g]',
  since: '($5::date[])[i.g]',
}
const { o, s, act, ep, since } = ASKED_KEY

/** The stored answer to a cell `i`. */
export const ANSWERS = `cell_cache c on c.org_id = ${o} and c.sheet_id = ${s} and c.action = ${act} and c.epoch = ${ep} and c.key = i.key
  and (${since} is null or c.completed_at >= ${since} at time zone 'UTC')`

/**
 * The stored outputs of identical cells, for those that have any. Keys are sent as bytes: with row-level security a condition in
 * which a function such as `decode` is applied to a column is no way into an index.
 */
export const FIND_HITS = `
select i.n::int, c.outputs::text as outputs, c.run_id, ${completedMs('c')} as at, c.credits_millis as millis
from unnest($6::int[], $7::bytea[]) with ordinality as i (g, key, n) join ${ANSWERS}`
