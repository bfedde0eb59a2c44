import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { selectSheets, type SheetRecord } from './sheets.ts'

/**
 * The sheet that rows of sheet `from` may be sent to or looked up in (D36): one of the same workflow, or of a workflow that
 * the owner of theirs may use. Where the owner was removed, admins act as owner, who use all (D13, D47).
 */
export async function findReachableSheet(
  db: Db,
  orgId: string,
  from: string,
  target: string,
): Promise<SheetRecord | undefined> {
  return selectSheets(db, orgId)
    .where('sheets.sheet_id', '=', target)
    .where(
      sql<boolean>`exists (
        select from sheets s join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
        join workflows t on t.org_id = w.org_id and t.workflow_id = sheets.workflow_id
        left join members m on m.org_id = w.org_id and m.member_id = w.owner_id
        where s.org_id = ${orgId} and s.sheet_id = ${from}
          and (t.workflow_id = w.workflow_id or w.owner_id is null or m.role = 'admin' or t.owner_id = w.owner_id
            or exists (select from workflow_shares h where h.org_id = t.org_id and h.workflow_id = t.workflow_id
              and h.member_id = w.owner_id)))`,
    )
    .executeTakeFirst()
}
