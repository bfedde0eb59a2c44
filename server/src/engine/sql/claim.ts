const SETTLED = `(select count(*)::int from cells c where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id)`

/**
 * Takes up the flights that jobs name. Each claim counts, so whoever held the flight before has lost its fence. Flights that
 * are gone, or whose job is not the current one (ticket), are left out. `settled` is the place of the cell in the run. Nobody
 * waits for the disk: a claim that a crash of PostgreSQL forgets makes its worker lose the fence, as if it had been overtaken.
 */
export const CLAIM = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, t int)
), taken as (
  update flights f set attempt = f.attempt + 1, status = 'running',
    -- A new flight has no result of its run. Whoever held another one before got to this cell, and no further.
    settled = case when f.attempt = 0 then 0 else ${SETTLED} end,
    strikes = case when f.strikes = 0 then 1 when f.settled = ${SETTLED} then f.strikes + 1 else 2 end
  from item i
  where f.org_id = i.o and f.row_id = i.r and f.ticket = i.t
  returning i.n, i.o, i.r, f.run_id, f.attempt, f.strikes, f.settled, f.retries, f.held_millis, f.state
)
select t.n, t.run_id, t.attempt, t.strikes, t.settled, t.retries, t.held_millis, t.state, run.state as run_state,
  r.data::text as data,
  (select json_object_agg(c.action, json_build_array(c.status, c.outputs))
    from cells c where c.org_id = t.o and c.row_id = t.r)::text as cells
from (select set_config('synchronous_commit', 'off', true)) unhurried, taken t
join runs run on run.org_id = t.o and run.run_id = t.run_id
left join rows r on r.org_id = t.o and r.row_id = t.r`
