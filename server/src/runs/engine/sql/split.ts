import { addJobsStatement } from '../../../database/queue/jobs.ts'

const ROWS = 'f.org_id = $1 and f.row_id = any($2::uuid[]) and f.ticket = $3'

/**
 * Adds a job for each row. Keys keep it to one job each if this is done twice; `b` counts how often the row was taken
 * with a group.
 */
const SINGLE = addJobsStatement('jobs', {
  task: 'row',
  payload: `json_build_object('o', f.org_id, 'r', f.row_id, 't', f.ticket, 'b', 1)`,
  priority: '0',
  key: `'row ' || f.row_id || ' ' || f.ticket`,
  from: `flights f where ${ROWS} and (f.attempt > 0 or $4::boolean)`,
})

const GROUP = addJobsStatement('groups', {
  task: 'rows',
  payload: `json_build_object('o', $1::uuid, 'r', g.ids, 't', $3::int, 'b', 1)`,
  priority: '0',
  key: `'rows ' || g.first || ' ' || $3::int`,
  from: `(select json_agg(f.row_id) as ids, min(f.row_id::text) as first from flights f
    where ${ROWS} and f.attempt = 0 and not $4::boolean having count(*) > 0) g`,
})

/**
 * Splits a group whose worker died: each row that was being run gets a job of its own, and the unclaimed rows stay
 * together. If that happens to them as well (`$4`), each gets a job of its own.
 */
export const SPLIT = `select (${SINGLE}) as singles, (${GROUP}) as groups`
