import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'

/** The text that replaces a reason which may have quoted erased values. */
export const ERASED_REASON = 'the values that this reason quoted have been erased'

/**
 * Removes failure reasons, which may quote values. For erased entities nothing is kept; for entities that lost values
 * the reason is replaced. All syncs are locked, so that no earlier failure writes a reason afterwards.
 */
export async function eraseReasons(
  db: Db,
  orgId: string,
  { erased, changed }: { erased: readonly string[]; changed: readonly string[] },
): Promise<void> {
  await sql`select from segment_syncs where org_id = ${orgId} order by sync_id for update`.execute(db)
  await sql`
    update segment_syncs set last_import_error = case
        when state = 'paused_error' then last_import_error - 'entity_id' || jsonb_build_object('reason', ${ERASED_REASON}::text)
      end
    where org_id = ${orgId} and last_import_error ->> 'reason' is not null
      and coalesce((last_import_error ->> 'entity_id')::uuid = any(${[...erased, ...changed]}::uuid[]), true)`.execute(
    db,
  )
  await sql`delete from segment_failures where org_id = ${orgId} and entity_id = any(${erased}::uuid[])`.execute(
    db,
  )
  await sql`update segment_failures set message = ${ERASED_REASON}
    where org_id = ${orgId} and entity_id = any(${changed}::uuid[])`.execute(db)
}
