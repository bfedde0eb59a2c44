import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'

export type FileRecord = Selectable<Schema['files']>
export type FileKey = { org_id: string; file_ref: string }

/** Returns the key of a file in the storage. */
export const createStorageKey = ({ org_id, file_ref }: FileKey): string => `${org_id}/${file_ref}`

/** Records a file before its first byte is written, so that an unfinished file expires like any other. */
export async function announceFile(
  db: Db,
  file: FileKey & { kind: string; name: string; created_by: string; expires_at: Date },
): Promise<void> {
  await db.insertInto('files').values(file).execute()
}

/** Marks a file as complete. */
export async function completeFile(
  db: Db,
  { org_id, file_ref }: FileKey,
  change: { size_bytes: number; expires_at: Date },
): Promise<void> {
  await db
    .updateTable('files')
    .set(change)
    .where('org_id', '=', org_id)
    .where('file_ref', '=', file_ref)
    .executeTakeFirstOrThrow()
}

/** Finds a readable file of any organisation: the caller must compare the organisation. */
export async function findFile(db: Db, kind: string, fileRef: string): Promise<FileRecord | undefined> {
  return db
    .selectFrom('files')
    .selectAll()
    .where('file_ref', '=', fileRef)
    .where('kind', '=', kind)
    .where('size_bytes', 'is not', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/**
 * Extends the life of a file that is used. Returns true if it still exists; it then stays until the transaction ends.
 */
export async function useFile(db: Db, { org_id, file_ref }: FileKey, days: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('files')
    .set({ used_at: sql<Date>`now()`, expires_at: sql<Date>`now() + ${days} * interval '1 day'` })
    .where('org_id', '=', org_id)
    .where('file_ref', '=', file_ref)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Locks one expired file, calls `remove` for it and deletes its record. Anyone who wants to use the file meanwhile
 * waits and then does not find it. Returns true if there was one.
 */
export async function forgetExpiredFile(db: Db, remove: (file: FileKey) => Promise<void>): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const file = await trx
      .selectFrom('files')
      .select(['org_id', 'file_ref'])
      .where('expires_at', '<=', sql<Date>`now()`)
      .orderBy('expires_at')
      .limit(sql.lit(1))
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (file === undefined) return false
    await remove(file)
    await forgetFile(trx, file)
    return true
  })
}

async function forgetFile(db: Db, { org_id, file_ref }: FileKey): Promise<void> {
  await db.deleteFrom('files').where('org_id', '=', org_id).where('file_ref', '=', file_ref).execute()
}
