import { type Selectable, sql } from 'kysely'
import { EXPORT_HOURS, type ExportFormat } from '#contract/exports.ts'
import type { Db } from '../../database/connection/db.ts'
import type { ExportPlan, ExportSelection } from '../../database/connection/json-columns.ts'
import { takeNamedLock } from '../../database/connection/named-lock.ts'
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

/** The sheet is there. Deleting it takes the counter away at once, the sheet itself a little later. */
function sheetIsThere(): Condition {
  return sql`exists (select from sheet_counters s where s.org_id = exports.org_id and s.sheet_id = exports.sheet_id)`
}

/**
 * Exports of an organisation that wait or are being built. Until the end of the transaction nobody else counts them, so that
 * two that come together do not both take the last place.
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

/** Only for the member who asked for it, and for a day (D61). */
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

/** The finished file behind a link, while its sheet is there. */
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

/** Takes up the work, with a number of its own: whoever had it before changes nothing any more. */
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

/** False when the sheet is gone or another process has taken the work up. Neither number ever goes back. */
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

/** Exports that nobody can read any more: too old, or finished and without their sheet. */
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
