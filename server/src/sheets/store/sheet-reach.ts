import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { selectSheets, type SheetRecord } from './sheets.ts'

/**
 * The keys that limit a target sheet that comes from a token. The holder of the key that started the run must be a member who
 * may use the sheet. Of the keys that configured the action, this holds for each holder who is still a member. Revoked keys
 * count with the reach they had.
 */
export type TargetBounds = { configuredWith: readonly string[]; startedWith: string | null }

/**
 * Finds the sheet that rows of the sheet `from` may be sent to or looked up in (D36): a sheet of the same workflow, or of a
 * workflow that the owner of the rows' workflow and the holders of the keys in `bounds` may use. If the owner was removed,
 * admins act as owner, and they may use all (D13, D47).
 */
export async function findReachableSheet(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  target: string,
  bounds: TargetBounds | null,
): Promise<SheetRecord | undefined> {
  const bounded =
    bounds === null
      ? sql`true`
      : sql`(${bounds.startedWith}::uuid is null or exists (select from ${keys(org_id)}
            where k.key_id = ${bounds.startedWith}::uuid and ${LISTED} and m.member_id is not null and ${mayUse('m')}))
          and not exists (select from ${keys(org_id)} where k.key_id = any(${bounds.configuredWith}::uuid[])
            and not (${LISTED} and (m.member_id is null or ${mayUse('m')})))`
  return selectSheets(db, org_id)
    .where('sheets.sheet_id', '=', target)
    .where(
      sql<boolean>`exists (
        select from sheets s join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
        join workflows t on t.org_id = w.org_id and t.workflow_id = sheets.workflow_id
        left join members o on o.org_id = w.org_id and o.member_id = w.owner_id
        where s.org_id = ${org_id} and s.sheet_id = ${sheet_id}
          and (t.workflow_id = w.workflow_id or (w.owner_id is null or ${mayUse('o')}) and ${bounded}))`,
    )
    .executeTakeFirst()
}

/** Selects keys with their members. A key stays after its member was removed. */
const keys = (orgId: string) =>
  sql`(select * from api_keys where org_id = ${orgId}) k
    left join members m on m.org_id = k.org_id and m.member_id = k.member_id`

const LISTED = sql`(k.allowed_workflow_ids is null or t.workflow_id = any(k.allowed_workflow_ids))`

/**
 * Returns the condition that a member may use the workflow `t`: an admin uses every workflow, a member their own and those
 * shared with them (D13).
 */
function mayUse(member: 'm' | 'o'): RawBuilder<unknown> {
  const id = sql.ref(`${member}.member_id`)
  return sql`(${sql.ref(`${member}.role`)} = 'admin' or coalesce(t.owner_id = ${id}, false)
    or exists (select from workflow_shares h where h.org_id = t.org_id and h.workflow_id = t.workflow_id
      and h.member_id = ${id}))`
}
