import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Mismatches, ValuePlaces } from '../../database/connection/json-columns.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { MappedColumn } from '../../database/tables/file-tables.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { newId } from '../../lib/ids.ts'

/** The hours for which the status of an import is kept after its end (D41). */
const KEPT_HOURS = 24

export type ImportRecord = Selectable<Schema['imports']>
export type ImportKey = { org_id: string; import_id: string }
export type { MappedColumn }

type NewImport = Pick<
  Insertable<Schema['imports']>,
  'org_id' | 'sheet_id' | 'file_ref' | 'sheet_name' | 'run_after' | 'created_by' | 'key_id' | 'cap_purse_id'
> & { mapping: MappedColumn[] }

/** Inserts an import. Returns its id, or null if the sheet already has a running import. */
export async function insertImport(db: Db, { mapping, ...fields }: NewImport): Promise<string | null> {
  const made = await db
    .insertInto('imports')
    .values({ ...fields, import_id: newId(), mapping: JSON.stringify(mapping) })
    .onConflict((on) =>
      on.columns(['org_id', 'sheet_id']).where('status', '=', sql.lit('processing')).doNothing(),
    )
    .returning('import_id')
    .executeTakeFirst()
  return made?.import_id ?? null
}

/** Finds the latest import of a sheet, unless it ended too long ago. */
export async function findLatestImport(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<
  Pick<ImportRecord, 'status' | 'rows_imported' | 'mismatches' | 'normalized' | 'error'> | undefined
> {
  return db
    .selectFrom('imports')
    .select(['status', 'rows_imported', 'mismatches', 'normalized', 'error'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where(sql<boolean>`coalesce(finished_at, now()) > now() - ${KEPT_HOURS} * interval '1 hour'`)
    .orderBy('import_id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

/** Finds the file and mapping of the latest import of a sheet. */
export async function findImportedFile(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<Pick<ImportRecord, 'org_id' | 'file_ref' | 'sheet_name' | 'mapping'> | undefined> {
  return db
    .selectFrom('imports')
    .select(['org_id', 'file_ref', 'sheet_name', 'mapping'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .orderBy('import_id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

/** Records a start and returns the import, or undefined if it has ended. */
export async function startImport(
  db: Db,
  { org_id, import_id }: ImportKey,
): Promise<ImportRecord | undefined> {
  return db
    .updateTable('imports')
    .set({ starts: sql<number>`starts + 1` })
    .where('org_id', '=', org_id)
    .where('import_id', '=', import_id)
    .where('status', '=', sql.lit('processing'))
    .returningAll()
    .executeTakeFirst()
}

type Progress = { rows: number; position: unknown; mismatches: Mismatches[]; normalized: ValuePlaces[] }

/**
 * Advances an import by one chunk, unless another worker has done so since. Returns true if it did. Call it in the
 * transaction that writes the rows of the chunk, before they are written.
 */
export async function advanceImport(
  db: Db,
  { org_id, import_id }: ImportKey,
  from: number,
  { rows, position, mismatches, normalized }: Progress,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('imports')
    .set({
      rows_imported: sql<number>`rows_imported + ${rows}`,
      chunks: from + 1,
      position: JSON.stringify(position),
      mismatches: JSON.stringify(mismatches),
      normalized: JSON.stringify(normalized),
      starts: 0,
    })
    .where('org_id', '=', org_id)
    .where('import_id', '=', import_id)
    .where('status', '=', sql.lit('processing'))
    .where('chunks', '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Completes an import if this was its last chunk. Returns false if it was not. */
export async function completeImport(
  db: Db,
  { org_id, import_id }: ImportKey,
  chunks: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('imports')
    .set({ status: 'completed', finished_at: sql<Date>`now()` })
    .where('org_id', '=', org_id)
    .where('import_id', '=', import_id)
    .where('status', '=', sql.lit('processing'))
    .where('chunks', '=', chunks)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function failImport(db: Db, { org_id, import_id }: ImportKey, error: string): Promise<void> {
  await db
    .updateTable('imports')
    .set({ status: 'failed', error, finished_at: sql<Date>`now()` })
    .where('org_id', '=', org_id)
    .where('import_id', '=', import_id)
    .where('status', '=', sql.lit('processing'))
    .execute()
}

export async function forgetOldImports(db: Db): Promise<void> {
  await sql`delete from imports where finished_at < now() - ${KEPT_HOURS} * interval '1 hour'`.execute(db)
}
