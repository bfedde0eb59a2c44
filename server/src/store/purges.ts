import { sql } from 'kysely'
import type { Db } from './db.ts'

const CHUNK = 5000

/**
 * Removes one chunk of what deletions left behind, in a short transaction that no writer waits for. Answers whether there
 * may be more. Several processes may call it at once: each takes another sheet.
 */
export async function purgeChunk(db: Db): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ org_id: string; sheet_id: string; below_seq: number }>`
      select org_id, sheet_id, below_seq from purges
      order by created_at limit 1 for update skip locked`.execute(trx)
    const purge = rows[0]
    if (purge === undefined) return false
    const { org_id, sheet_id, below_seq } = purge
    const removed = await sql`
      with old as (
        select row_id from rows
        where org_id = ${org_id} and sheet_id = ${sheet_id} and seq < ${below_seq} order by seq limit ${CHUNK}
      ), cells_gone as (
        delete from cells c using old where c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.row_id = old.row_id
      )
      delete from rows r using old where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.row_id = old.row_id`.execute(
      trx,
    )
    if (Number(removed.numAffectedRows ?? 0n) < CHUNK) await finish(trx, purge)
    return true
  })
}

/** The rows are gone; so go the purge itself and, when they were deleted, the sheet and its workflow. */
async function finish(
  trx: Db,
  { org_id, sheet_id, below_seq }: { org_id: string; sheet_id: string; below_seq: number },
): Promise<void> {
  await sql`delete from row_gaps
    where org_id = ${org_id} and sheet_id = ${sheet_id} and (block + 1) * 1024 <= ${below_seq}`.execute(trx)
  await sql`delete from purges where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(trx)
  const { rows } = await sql<{ workflow_id: string }>`delete from sheets
    where org_id = ${org_id} and sheet_id = ${sheet_id} and deleted_at is not null
    returning workflow_id`.execute(trx)
  const workflowId = rows[0]?.workflow_id
  if (workflowId === undefined) return
  await sql`delete from workflows w
    where w.org_id = ${org_id} and w.workflow_id = ${workflowId} and w.deleted_at is not null
      and not exists (select from sheets s where s.org_id = ${org_id} and s.workflow_id = ${workflowId})`.execute(
    trx,
  )
}
