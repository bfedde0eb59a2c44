import { addJobsStatement } from '../../store/queue/jobs.ts'

/**
 * Gives each row of a group that is still in the air a job of its own. The key keeps it to one if it is done twice; `b` counts
 * that the row was claimed once with its group.
 */
export const SPLIT = addJobsStatement('jobs', {
  task: 'row',
  payload: `json_build_object('o', f.org_id, 'r', f.row_id, 't', f.ticket, 'b', 1)`,
  priority: '0',
  key: `'row ' || f.row_id || ' ' || f.ticket`,
  from: 'flights f where f.org_id = $1 and f.row_id = any($2::uuid[]) and f.ticket = $3',
})
