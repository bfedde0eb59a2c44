import { type Selectable, sql } from 'kysely'
import { EXPORT_HOURS, type ExportFormat } from '#contract/exports.ts'
import type { Db } from '../../database/connection/db.ts'
import type { ExportPlan, ExportSelection } from '../../database/connection/json-columns.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { notFound } from '../../lib/errors.ts'
import type { Condition } from '../../sheets/store/row-filters.ts'

export type ExportRecord = Selectable<Schema['exports']>
export type ExportKey = { org_id: string; export_id: string }

export type NewExport = ExportKey & {
  sheet_id: string
  member_id: string
  format: ExportFormat
  file_name: string
  selection: ExportSelection
  plan: ExportPlan
}

const readable = sql<boolean>`started_at > now() - ${sql.lit(EXPORT_HOURS)} * interval '1 hour'`

/** Tests that the sheet exists. Deleting a sheet removes its counter at once and the sheet itself a little later. */
function sheetIsThere(): Condition {
  return sql`exists (select from sheet_counters s where s.org_id = exports.org_id and s.sheet_id = exports.sheet_id)`
}

/**
 * Counts the waiting and running exports of an organisation. It locks the count until the transaction ends, so that two
 * simultaneous requests cannot both take the last slot.
 */
export async function countRunningExports(db: Db, orgId: string): Promise<number> {
  await takeNamedLock(db, `exports of ${orgId}`)
  const { running } = await db
    .selectFrom('exports')
    .select((eb) => eb.fn.countAll<number>().as('running'))
    .where('org_id', '=', orgId)
    .where('status', '=', sql.lit('running'))
    .executeTakeFirstOrThrow()
  return running
}

export async function insertExport(
  db: Db,
  { org_id, sheet_id, selection, plan, ...record }: NewExport,
): Promise<ExportRecord> {
  const counter = await db
    .selectFrom('sheet_counters')
    .select('next_seq')
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .executeTakeFirst()
  if (counter === undefined) throw notFound('Sheet')
  return db
    .insertInto('exports')
    .values({
      ...record,
      org_id,
      sheet_id,
      below_seq: counter.next_seq,
      selection: JSON.stringify(selection),
      plan: JSON.stringify(plan),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Finds an export of the member who requested it, for a day (D61). */
export async function findExport(
  db: Db,
  of: ExportKey & { sheet_id: string; member_id: string },
): Promise<ExportRecord | undefined> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('org_id', '=', of.org_id)
    .where('export_id', '=', of.export_id)
    .where('sheet_id', '=', of.sheet_id)
    .where('member_id', '=', of.member_id)
    .where(readable)
    .executeTakeFirst()
}

/** Finds the finished file of a link, while its sheet exists. */
export async function findExportFile(
  db: Db,
  { org_id, export_id }: ExportKey,
): Promise<ExportRecord | undefined> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('export_id', '=', export_id)
    .where('status', '=', 'completed')
    .where(readable)
    .where(sheetIsThere())
    .executeTakeFirst()
}

/** Starts an attempt with its own number. An earlier attempt can change nothing any more. */
export async function beginExport(
  db: Db,
  { org_id, export_id }: ExportKey,
): Promise<ExportRecord | undefined> {
  return db
    .updateTable('exports')
    .set((eb) => ({ attempt: eb('attempt', '+', 1) }))
    .where('org_id', '=', org_id)
    .where('export_id', '=', export_id)
    .where('status', '=', sql.lit('running'))
    .returningAll()
    .executeTakeFirst()
}

type Attempt = ExportKey & { attempt: number }

/**
 * Records progress; neither number ever decreases. Returns false if the sheet no longer exists or another process has
 * taken over.
 */
export async function advanceExport(
  db: Db,
  of: Attempt,
  { rows, progress }: { rows: number; progress: number },
): Promise<boolean> {
  const { numUpdatedRows } = await change(db, of)
    .set({
      progress: sql<number>`greatest(progress, ${Math.min(99, progress)}::int)`,
      row_count: sql<number>`greatest(row_count, ${rows}::bigint)`,
    })
    .where(sheetIsThere())
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function completeExport(
  db: Db,
  of: Attempt,
  { rows, bytes }: { rows: number; bytes: number },
): Promise<boolean> {
  const { numUpdatedRows } = await change(db, of)
    .set({
      status: 'completed',
      progress: 100,
      row_count: rows,
      size_bytes: bytes,
      completed_at: sql<Date>`now()`,
    })
    .where(sheetIsThere())
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function failExport(db: Db, of: Attempt, error: string): Promise<void> {
  await change(db, of)
    .set({ status: 'failed', error, completed_at: sql<Date>`now()` })
    .execute()
}

function change(db: Db, { org_id, export_id, attempt }: Attempt) {
  return db
    .updateTable('exports')
    .where('org_id', '=', org_id)
    .where('export_id', '=', export_id)
    .where('status', '=', sql.lit('running'))
    .where('attempt', '=', attempt)
}

/** Lists exports that nobody can read any more: expired, or finished and without their sheet. */
export async function listForgottenExports(db: Db, limit: number): Promise<Attempt[]> {
  return db
    .selectFrom('exports')
    .select(['org_id', 'export_id', 'attempt'])
    .where((eb) => eb.or([eb.not(readable), eb.and([eb('status', '<>', 'running'), eb.not(sheetIsThere())])]))
    .limit(sql.lit(limit))
    .execute()
}

export async function deleteExport(db: Db, { org_id, export_id }: ExportKey): Promise<void> {
  await db.deleteFrom('exports').where('org_id', '=', org_id).where('export_id', '=', export_id).execute()
}
