import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'

/** In place of a reason that may have quoted what was erased. */
export const ERASED_REASON = 'the values it was about have been erased'

/**
 * Why a member could not be delivered may quote its values: of entities that were erased nothing is kept, of those that lost
 * values no reason. All syncs are locked, so that nobody who failed before writes a reason after this.
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
