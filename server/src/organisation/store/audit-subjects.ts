import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { isUuid } from '../../lib/ids.ts'

/** The name of what an entry is about, and its page in the dashboard; null if it was deleted. */
export type AuditSubject = { name: string; path: string | null }

/** Returns the subjects of the given targets that are ids of this organisation, by id. */
export async function listAuditSubjects(
  db: Db,
  orgId: string,
  targets: readonly string[],
): Promise<Map<string, AuditSubject>> {
  const ids = [...new Set(targets.filter(isUuid))]
  if (ids.length === 0) return new Map()
  const { rows } = await sql<AuditSubject & { id: string }>`
    with wanted as (select unnest(${ids}::uuid[]) as id)
    select s.sheet_id::text as id,
      case when s.sheet_id = s.workflow_id then w.name else w.name || ', ' || s.name end as name,
      case when w.deleted_at is null and s.deleted_at is null
        then '/workflows/' || s.workflow_id || '/sheets/' || s.sheet_id end as path
    from wanted t
    join sheets s on s.org_id = ${orgId} and s.sheet_id = t.id
    join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
    union all
    select h.shortcut_id::text, h.name, '/shortcuts/' || h.shortcut_id
    from wanted t join shortcuts h on h.org_id = ${orgId} and h.shortcut_id = t.id
    union all
    select c.instance_id::text, c.name, case when c.status <> 'deleted' then '/sources/' || c.instance_id end
    from wanted t join sources c on c.org_id = ${orgId} and c.instance_id = t.id
    union all
    select g.segment_id::text, g.name, '/segments'
    from wanted t join record_segments g on g.org_id = ${orgId} and g.segment_id = t.id
    union all
    select b.budget_id::text, b.name, '/usage'
    from wanted t join budgets b on b.org_id = ${orgId} and b.budget_id = t.id
    union all
    select n.connection_id::text, n.name, '/settings/connections'
    from wanted t join connections n on n.org_id = ${orgId} and n.connection_id = t.id`.execute(db)
  return new Map(rows.map(({ id, ...subject }) => [id, subject]))
}
