import { ANSWERS, askedCells, completedMs } from './find-hits.ts'

/**
 * Claims cells that no row computes: one row has the claim to a cell among all processes. If the result has been stored
 * by now, it is returned in place of a claim. A cell that another row has a claim to is left out. No existing record is
 * locked, and new claims are made in the order of their keys, so that this cannot deadlock with a settlement or another
 * claim.
 */
export const CLAIM_CELLS = `
with found as materialized (
  select i.*, c.outputs::text as outputs, c.run_id, ${completedMs('c')} as at, c.credits_millis as millis
  from ${askedCells({ r: '$8::uuid[]', run: '$9::uuid[]' })}
  left join ${ANSWERS}
), claimed as (
  insert into cell_claims (org_id, sheet_id, action, epoch, key, row_id, run_id)
  select distinct on (o, s, act, ep, key) o, s, act, ep, key, r, run from found where outputs is null
  order by o, s, act, ep, key, n
  on conflict (org_id, sheet_id, action, epoch, key) do nothing
  returning row_id
)
select n::int, outputs, run_id, at, millis, null as row_id from found where outputs is not null
union all select null, null, null, null, null, row_id from claimed`
