import { ANSWERS, askedCells, completedMs } from './find-hits.ts'

/**
 * Claims cells that nobody computes: one row has the claim to a cell among all processes. Where the result is stored by now it is
 * answered in place of a claim; a cell that somebody else has a claim to is left out. Nothing that is there is locked, and new
 * claims are made in the order of their keys, so that nobody waits in a circle with a settlement or another of these.
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
