/**
 * Gives each row of a group that is still in the air a job of its own. The key keeps it to one if it is done twice; `b` counts
 * that the row was claimed once with its group.
 */
export const SPLIT = `
select count(*) from graphile_worker.add_jobs((
  select array_agg((
    'row', json_build_object('o', f.org_id, 'r', f.row_id, 't', f.ticket, 'b', 1), null, null, 25,
    'row ' || f.row_id || ' ' || f.ticket, 0, null)::graphile_worker.job_spec)
  from flights f where f.org_id = $1 and f.row_id = any($2::uuid[]) and f.ticket = $3
  having count(*) > 0))`
