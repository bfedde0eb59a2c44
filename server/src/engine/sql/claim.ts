import { CELLS, DATA } from '../../store/runs/flight-row.ts'

const SETTLED = `(select count(*)::int from cells c where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id)`

/**
 * Claims the flights that jobs name. Each claim counts, so whoever held the flight before has lost its fence. Flights that
 * are gone, or whose job is not the current one (ticket), are left out. `settled` is the place of the cell in the run; a flight
 * whose job is `fresh` has no result yet. A worker that claims its own row again after an outage (`resumed`) adds no stalled
 * claim. Nobody waits for the disk: a claim that a crash of PostgreSQL forgets makes its worker lose the fence, as if it had
 * been overtaken.
 */
export const CLAIM = `
with claimed as (
  update flights f set attempt = f.attempt + 1, status = 'running',
    -- Whoever held the flight before got to this cell, and no further.
    settled = case when f.attempt = 0 and i.fresh then 0 else ${SETTLED} end,
    strikes = case when f.strikes = 0 then 1 when f.settled = ${SETTLED} then f.strikes + (not i.resumed)::int
      when i.resumed then 1 else 2 end,
    tested_in = case when f.tested_in is not null and f.settled = ${SETTLED} then f.tested_in end
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::boolean[], $5::boolean[])
    with ordinality as i (o, r, t, fresh, resumed, n)
  where f.org_id = i.o and f.row_id = i.r and f.ticket = i.t
  returning i.n, i.o, i.r, f.run_id, f.attempt, f.strikes as stalled_claims, f.tested_in, f.settled, f.retries, f.state
), run as materialized (
  -- Each once: most batches are of one run.
  select r.run_id, r.state, r.cap_purse_id from (select distinct o, run_id from claimed) d
  join runs r on r.org_id = d.o and r.run_id = d.run_id
)
select i.n, i.run_id, i.attempt, i.stalled_claims, i.tested_in, i.settled, i.retries, i.state, run.state as run_state, run.cap_purse_id,
  ${DATA} as data, ${CELLS} as cells
from (select set_config('synchronous_commit', 'off', true)) unhurried, claimed i
join run on run.run_id = i.run_id
left join rows r on r.org_id = i.o and r.row_id = i.r`
