import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'

export type FileRecord = Selectable<Schema['files']>
export type FileKey = { org_id: string; file_ref: string }

/** Where a file lies in the storage. */
export const storageKeyOf = ({ org_id, file_ref }: FileKey): string => `${org_id}/${file_ref}`

/** Announces a file before its first byte is written, so that one that is never finished expires like any other. */
export async function announceFile(
  db: Db,
  file: FileKey & { kind: string; name: string; created_by: string; expires_at: Date },
): Promise<void> {
  await db.insertInto('files').values(file).execute()
}

/** All of it is there now. */
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

/** A file that can be read now, whosever it is: the caller compares the organisation. */
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

/** Puts off the end of a file that is used. Answers whether it is still there; it then stays until the transaction ends. */
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
 * Takes one file that has expired, lets `remove` end what it names, and forgets it. Whoever wants to use it meanwhile waits,
 * and then does not find it. Answers whether there was one.
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
