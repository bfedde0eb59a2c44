/**
 * Takes up the flights that jobs name. Each claim counts, so whoever held the flight before has lost its fence. Flights that
 * are gone, or whose job is not the current one (ticket), are left out.
 */
export const CLAIM = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, t int)
), taken as (
  update flights f set attempt = f.attempt + 1, status = 'running'
  from item i where f.org_id = i.o and f.row_id = i.r and f.ticket = i.t
  returning i.n, f.org_id, f.sheet_id, f.row_id, f.run_id, f.action, f.ticket, f.attempt, f.retries, f.held_millis, f.state
)
select t.*, run.revision, run.actions, run.cache_enabled, run.cache_since, run.continue_on_fail, run.hops, run.state as run_state,
  r.data::text as data,
  (select json_object_agg(c.action, json_build_array(c.status, c.outputs))
    from cells c where c.org_id = t.org_id and c.row_id = t.row_id)::text as cells
from taken t
join runs run on run.org_id = t.org_id and run.run_id = t.run_id
left join rows r on r.org_id = t.org_id and r.row_id = t.row_id`
