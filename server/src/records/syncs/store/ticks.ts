import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { SyncKey } from './syncs.ts'

/**
 * Lists syncs whose cycle is due by the database's clock: first the longest waiting of each organisation, then their
 * next.
 */
export async function listDueSyncs(db: Db, limit: number): Promise<SyncKey[]> {
  const { rows } = await sql<SyncKey>`select org_id, sync_id from segment_syncs
    where state in ('active', 'pending_confirmation') and next_cycle_at <= now()
    order by row_number() over (partition by org_id order by next_cycle_at), next_cycle_at limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows
}

/** Takes the tick of a due sync and sets the next one. Returns false if another process has it. */
export async function takeTick(db: Db, { org_id, sync_id }: SyncKey, seconds: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update segment_syncs set tick = tick + 1, next_cycle_at = now() + make_interval(secs => ${seconds})
    where (org_id, sync_id) in (
      select org_id, sync_id from segment_syncs where org_id = ${org_id} and sync_id = ${sync_id}
        and state in ('active', 'pending_confirmation') and next_cycle_at <= now() for update skip locked
    )`.execute(db)
  return numAffectedRows === 1n
}

const PURGED_AT_ONCE = 5000

/** Removes a chunk of the records of deleted syncs. Returns false if nothing is left. */
export async function purgeDeletedSyncs(db: Db): Promise<boolean> {
  const { numAffectedRows: deliveries } = await sql`
    delete from segment_deliveries where ctid = any(array(
      select x.ctid from segment_syncs y
      join segment_destinations d on d.org_id = y.org_id and d.sync_id = y.sync_id
      join segment_deliveries x on x.org_id = d.org_id and x.connection_id = d.connection_id
      where y.state = 'deleted' limit ${sql.lit(PURGED_AT_ONCE)}))`.execute(db)
  if (deliveries !== 0n) return true
  const { numAffectedRows: syncs } = await sql`delete from segment_syncs where state = 'deleted'`.execute(db)
  return syncs !== 0n
}
