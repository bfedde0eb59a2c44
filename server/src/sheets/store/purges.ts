import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { BLOCK } from './rows.ts'

const CHUNK = 5000

type Purge = SheetKey & { below_seq: number }

/**
 * Removes one chunk of deleted rows, in a short transaction that no writer waits for. Returns true if there may be more.
 * Several processes may call it at once: each takes another sheet.
 */
export async function purgeChunk(db: Db): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<Purge>`
      select org_id, sheet_id, below_seq from purges
      order by created_at limit 1 for update skip locked`.execute(trx)
    const purge = rows[0]
    if (purge === undefined) return false
    const { org_id, sheet_id, below_seq } = purge
    const removed = await sql`
      with old as (
        select row_id from rows
        where org_id = ${org_id} and sheet_id = ${sheet_id} and seq < ${below_seq} order by seq limit ${sql.lit(CHUNK)}
      ), cells_gone as (
        delete from cells c using old where c.org_id = ${org_id} and c.row_id = old.row_id
      ), former_gone as (
        delete from former_cells k using old where k.org_id = ${org_id} and k.row_id = old.row_id
      ), stopped_gone as (
        delete from stopped_rows s using old where s.org_id = ${org_id} and s.row_id = old.row_id
      ), sent_gone as (
        delete from sent_rows s using old where s.org_id = ${org_id} and s.row_id = old.row_id
      ), comments_gone as (
        delete from comments m using old where m.org_id = ${org_id} and m.row_id = old.row_id
      ), changes_gone as (
        delete from row_changes h using old where h.org_id = ${org_id} and h.row_id = old.row_id
      ), writes_gone as (
        delete from record_cell_writes w using old where w.org_id = ${org_id} and w.row_id = old.row_id
      )
      delete from rows r using old where r.org_id = ${org_id} and r.row_id = old.row_id`.execute(trx)
    if (Number(removed.numAffectedRows ?? 0n) < CHUNK) await finish(trx, purge)
    return true
  })
}

/**
 * Finishes a purge whose rows are deleted: deletes the purge itself and, if they were deleted, the sheet and its workflow.
 */
async function finish(trx: Db, { org_id, sheet_id, below_seq }: Purge): Promise<void> {
  await sql`delete from row_gaps
    where org_id = ${org_id} and sheet_id = ${sheet_id} and (block + 1) * ${BLOCK} <= ${below_seq}`.execute(
    trx,
  )
  await sql`delete from purges where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(trx)
  const { rows } = await sql<{ workflow_id: string }>`delete from sheets
    where org_id = ${org_id} and sheet_id = ${sheet_id} and deleted_at is not null
    returning workflow_id`.execute(trx)
  const workflowId = rows[0]?.workflow_id
  if (workflowId === undefined) return
  for (const table of [
    'row_gaps',
    'cell_cache',
    'cell_tests',
    'cell_claims',
    'dedupe_keys',
    'dedupe_progress',
    'webhook_ids',
    'webhook_deliveries',
  ] as const) {
    await sql`delete from ${sql.table(table)} where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(
      trx,
    )
  }
  // The lock makes sure that of two transactions that delete the last two sheets at once, the later one sees that none is
  // left.
  await sql`select from workflows where org_id = ${org_id} and workflow_id = ${workflowId} for update`.execute(
    trx,
  )
  // Its spending stays in the ledger, under its name.
  await sql`insert into workflow_names (org_id, workflow_id, name)
    select org_id, workflow_id, name from workflows w
    where w.org_id = ${org_id} and w.workflow_id = ${workflowId} and w.deleted_at is not null
      and exists (select from usage_cells u where u.org_id = w.org_id and u.workflow_id = w.workflow_id)
    on conflict do nothing`.execute(trx)
  await sql`delete from workflows w
    where w.org_id = ${org_id} and w.workflow_id = ${workflowId} and w.deleted_at is not null
      and not exists (select from sheets s where s.org_id = ${org_id} and s.workflow_id = ${workflowId})`.execute(
    trx,
  )
}
