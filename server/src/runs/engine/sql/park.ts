import { addJobsStatement } from '../../../database/queue/jobs.ts'
import { endStopped } from '../../store/former-cells.ts'
import { FENCED, fencedItems } from './fence.ts'

const ADD_LATER = addJobsStatement('jobs', {
  task: 'row',
  payload: `json_build_object('o', o, 'r', r, 't', ticket)`,
  priority: 'pr',
  runAt: `now() + ms * interval '1 millisecond'`,
  from: 'parked',
})

/**
 * Parks flights: the cell is queued again and a new job claims it later. The ticket of the old job is void. If the run
 * was stopped meanwhile, the flight ends instead (D23), and its cells get their former results back (D84).
 */
export const PARK = `
with item as materialized (
  select i.*, (select state from runs where org_id = i.o and run_id = i.run) = 'stopped' as stopped
  from ${fencedItems(', ms bigint, tries int, state jsonb, pr int, wt jsonb')}
), mine as materialized (
  -- All of them at once, in the order of their rows: those that end below would otherwise be locked after those that are parked.
  select i.* from item i join flights f on ${FENCED}
  order by f.row_id for no key update of f
), parked as (
  update flights f set status = 'queued', ticket = f.ticket + 1, retries = i.tries, strikes = 0, tested_in = null, state = i.state,
    waiting = i.wt
  from mine i where not i.stopped and f.org_id = i.o and f.row_id = i.r
  returning i.n, i.o, i.r, f.ticket, i.ms, i.pr
), scheduled as (
  ${ADD_LATER}
), ended as (
  delete from flights f using mine i where i.stopped and f.org_id = i.o and f.row_id = i.r
  returning i.n, f.org_id, f.sheet_id, f.row_id, f.run_id
), ${endStopped('ended')}
select parked.n from parked, scheduled union all select n from ended`
