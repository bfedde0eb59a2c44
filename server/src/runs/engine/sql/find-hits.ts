/**
 * Returns when a stored answer was completed, in milliseconds: a number is read faster than a date, and made faster
 * than a decimal.
 */
export const completedMs = (table: string) =>
  // Rounded as microseconds, which a double represents exactly only as whole numbers.
  `round(date_part('epoch', ${table}.completed_at) * 1e6) / 1e3`

/**
 * Returns the condition under which a stored answer is used: it is not older than a moment in milliseconds, if one is
 * given.
 */
export const isFresh = (completedAt: string, since: string) =>
  `(${since} is null or ${completedAt} >= to_timestamp(${since} / 1000.0))`

/** The length of a SHA-256. */
const KEY_BYTES = 32

/**
 * Lists the cells that are asked for, as `i`, with their places `n`, from 1. Values that many cells have in common are
 * sent once (1 to 5). For each cell only the number of its values (6) and its key are sent, all keys as the bytes of
 * one value (7), which takes no time to read, unlike a list of texts. Further columns follow.
 *
 * `offset 0`: with row-level security a condition in which a function such as `substr` is applied to a column cannot
 * use an index.
 */
export const askedCells = (columns: Record<string, string> = {}): string => `(
  select u.*, ($1::uuid[])[u.g] as o, ($2::uuid[])[u.g] as s, ($3::text[])[u.g] as act, ($4::int[])[u.g] as ep,
    ($5::bigint[])[u.g] as since, substr($7::bytea, (u.n::int - 1) * ${KEY_BYTES} + 1, ${KEY_BYTES}) as key
  from unnest(${['$6::int[]', ...Object.values(columns)].join()}) with ordinality as u (${['g', ...Object.keys(columns)].join()}, n)
  offset 0
) i`

/** Joins the stored answer to a cell `i`. */
export const ANSWERS = `cell_cache c on c.org_id = i.o and c.sheet_id = i.s and c.action = i.act and c.epoch = i.ep and c.key = i.key
  and ${isFresh('c.completed_at', 'i.since')}`

/** Finds the stored outputs of identical cells, for those that have any. */
export const FIND_HITS = `
select i.n::int, c.outputs::text as outputs, c.run_id, ${completedMs('c')} as at, c.credits_millis as millis
from ${askedCells()} join ${ANSWERS}`
