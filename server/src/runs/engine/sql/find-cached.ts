import { completedMs, isFresh } from './find-hits.ts'

/**
 * Finds the stored outputs of an identical cell, or else claims the cell: one row has the claim among all processes,
 * until its cell is settled or the row is no longer in flight. `parked`: the row that has the claim waits. Uses counts
 * in place of `exists`, and finds the claimant first: PostgreSQL would otherwise read all flights and cells, to
 * remember them for further rows that never come.
 */
export const FIND_CACHED = `
with hit as materialized (
  select outputs::text as outputs, run_id, completed_at, credits_millis from cell_cache
  where org_id = $1 and sheet_id = $2 and action = $3 and epoch = $4 and key = decode($5, 'hex')
    and ${isFresh('completed_at', '$6::bigint')}
), claim as (
  insert into cell_claims as c (org_id, sheet_id, action, epoch, key, row_id, run_id)
  select $1, $2, $3, $4, decode($5, 'hex'), $7, $8 where not exists (select from hit)
  on conflict (org_id, sheet_id, action, epoch, key) do update set row_id = excluded.row_id, run_id = excluded.run_id
    where c.row_id = excluded.row_id
      or 0 = (select count(*) from flights f where f.org_id = c.org_id and f.row_id = c.row_id and f.run_id = c.run_id)
      or 0 < (select count(*) from cells d where d.org_id = c.org_id and d.row_id = c.row_id and d.action = c.action
        and d.run_id is not distinct from c.run_id)
  returning row_id
), claimed as materialized (
  select coalesce((select row_id from claim), (
    select row_id from cell_claims
    where org_id = $1 and sheet_id = $2 and action = $3 and epoch = $4 and key = decode($5, 'hex'))) as row_id
)
select hit.outputs, hit.run_id, ${completedMs('hit')} as at, hit.credits_millis as millis, c.row_id as claimant,
  exists (select from flights f where f.org_id = $1 and f.row_id = c.row_id and f.status = 'queued') as parked
from claimed c left join hit on true`
