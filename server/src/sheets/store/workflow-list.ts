import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { WorkflowFor } from './workflows.ts'

export type ListedWorkflowRecord = Omit<WorkflowFor, 'org_id' | 'last_run_at'> & {
  owner: string | null
  shared_with: number
  last_run: {
    state: 'running' | 'finished' | 'stopped'
    /** The time in ISO 8601, because it is read as JSON. */
    at: string
    rows_queued: number
    rows_done: number
    cells_failed: number
  } | null
}

/** Lists the workflows of an organisation that are not deleted, as the list shows them, most recently updated first. */
export async function listWorkflowsWithRuns(
  db: Db,
  orgId: string,
  memberId: string,
): Promise<ListedWorkflowRecord[]> {
  const { rows } = await sql<ListedWorkflowRecord>`
    select w.workflow_id, w.name, w.owner_id, w.created_at, w.updated_at, o.email as owner, h.shared_with, h.is_shared,
      l.last_run
    from workflows w
    left join members o on o.org_id = w.org_id and o.member_id = w.owner_id
    cross join lateral (
      select count(*)::int as shared_with, coalesce(bool_or(h.member_id = ${memberId}), false) as is_shared
      from workflow_shares h where h.org_id = w.org_id and h.workflow_id = w.workflow_id) h
    left join lateral (
      select jsonb_build_object('state', r.state, 'at', r.created_at, 'rows_queued', r.rows_queued,
        'rows_done', t.rows_done, 'cells_failed', t.cells_failed) as last_run
      from (
        select r.* from sheets s cross join lateral (
          select r.org_id, r.run_id, r.state, r.created_at, r.rows_queued from runs r
          where r.org_id = s.org_id and r.sheet_id = s.sheet_id order by r.run_id desc limit 1) r
        where s.org_id = w.org_id and s.workflow_id = w.workflow_id and s.deleted_at is null
        order by r.run_id desc limit 1) r
      cross join lateral (
        select coalesce(sum(t.rows_done), 0) as rows_done, coalesce(sum(t.cells_failed), 0) as cells_failed
        from run_tallies t where t.org_id = r.org_id and t.run_id = r.run_id) t) l on true
    where w.org_id = ${orgId} and w.deleted_at is null
    order by w.updated_at desc, w.workflow_id desc`.execute(db)
  return rows
}
