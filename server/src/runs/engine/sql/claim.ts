import { nameParameters, type NamedParameters } from '../../../database/connection/named-parameters.ts'
import { CELLS_IN_RUN, DATA } from '../../store/flight-row.ts'
import { listRows } from './groups.ts'
import { OF_JOBS } from './peek.ts'

const SETTLED = `(f.skipped + (select count(*)::int from cells c where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id))`

/**
 * Claims the flights that jobs name. Each claim counts, so the former holder of the flight has lost its fence. Flights
 * that no longer exist, or whose job is not the current one (ticket), are left out. `settled` is the place of the cell
 * in the run; a flight whose job is `fresh` has no result yet. A worker that claims its own row again after an outage
 * (`resumed`) adds no stalled claim, and what it noted before it ran the row says nothing, because the worker lives. No
 * claim waits for the disk: if a crash of PostgreSQL loses a claim, its worker loses the fence, as if it had been
 * overtaken.
 *
 * A row that is claimed for the first time has no results of this run. Results of other runs are returned only if the
 * run `reads` them.
 */
export const CLAIM: NamedParameters = nameParameters(`
with claimed as (
  update flights f set attempt = f.attempt + 1, status = 'running',
    -- The previous worker got to this cell, and no further.
    settled = case when f.attempt = 0 and i.fresh then 0 else ${SETTLED} end,
    strikes = case when f.strikes = 0 then 1 when f.settled = ${SETTLED} then f.strikes + (not i.resumed)::int
      when i.resumed then 1 else 2 end,
    tested_in = case when f.tested_in is not null and not i.resumed and f.settled = ${SETTLED} then f.tested_in end
  from ${listRows({ ...OF_JOBS, fresh: '@fresh::boolean[]', resumed: '@resumed::boolean[]' })}
  where f.org_id = i.o and f.row_id = i.r and f.ticket = i.t
  returning i.n, i.o, i.r, i.run, i.reads, f.run_id, f.attempt, f.strikes, f.tested_in, f.settled, f.retries, f.state
), run as materialized (
  -- Each once: most batches are of one run.
  select r.run_id, r.state, r.cap_purse_id from (select distinct o, run_id from claimed) d
  join runs r on r.org_id = d.o and r.run_id = d.run_id
)
select i.n, i.run_id, i.attempt, i.strikes as stalled_claims, i.tested_in, i.settled, i.retries, i.state,
  run.state as run_state, run.cap_purse_id, ${DATA} as data,
  case when i.reads or i.attempt > 1 or i.run_id is distinct from i.run then ${CELLS_IN_RUN} end as cells
from (select set_config('synchronous_commit', 'off', true)) unhurried, claimed i
join run on run.run_id = i.run_id
left join rows r on r.org_id = i.o and r.row_id = i.r`)
