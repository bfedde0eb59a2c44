/** The fence of a flight `f`: it is still at the ticket and the attempt that the item `i` names. */
export const FENCED = `f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a`

/** Lists items of a JSON array that name flights by their fences, as `i`, with their places `n` and further columns. */
export const fencedItems = (columns = ''): string =>
  `jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int${columns})`
