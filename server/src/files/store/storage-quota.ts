import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { limitSql } from '../../database/connection/limits.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import { AppError } from '../../lib/errors.ts'

const MB = 1_000_000

export type StorageUse = { used: number; limit: number | null }

/** Returns the bytes of an organisation's files and exports in the storage, and the limit. */
export async function measureStorage(db: Db, orgId: string): Promise<StorageUse> {
  const { rows } = await sql<StorageUse>`select
    (select coalesce(sum(size_bytes), 0)::bigint from files where org_id = ${orgId})
      + (select coalesce(sum(size_bytes), 0)::bigint from exports where org_id = ${orgId}) as used,
    ${limitSql('storageMbPerOrg')} * ${sql.lit(MB)} as limit`.execute(db)
  return rows[0] ?? { used: 0, limit: null }
}

/**
 * Refuses a file that does not fit. It locks the organisation's storage until the transaction ends: record the file's
 * size in the same transaction.
 */
export async function requireStorage(trx: Db, orgId: string, bytes: number): Promise<void> {
  await takeNamedLock(trx, `storage of ${orgId}`)
  const use = await measureStorage(trx, orgId)
  if (!fits(use, bytes)) throw storageLimitError(use)
}

export const fits = ({ used, limit }: StorageUse, bytes: number): boolean =>
  limit === null || used + bytes <= limit

function storageLimitError({ used, limit }: StorageUse): AppError {
  const megabytes = (bytes: number) => `${Math.ceil(bytes / MB)} MB`
  return new AppError(
    'STORAGE_LIMIT_REACHED',
    `Files and exports of your organisation take ${megabytes(used)}, and the limit is ${megabytes(limit ?? 0)} (LOAM_STORAGE_MB_PER_ORG): this file does not fit. Exports are removed after 24 hours and uploads 7 days after their last use: wait for that, or ask the operator for a higher limit`,
  )
}

/** Yields the bytes of a file and throws when the storage is full. */
export async function* withinStorage(
  use: StorageUse,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const block of body) {
    bytes += block.byteLength
    if (!fits(use, bytes)) throw storageLimitError(use)
    yield block
  }
}

export const isStorageLimit = (cause: unknown): cause is AppError =>
  cause instanceof AppError && cause.code === 'STORAGE_LIMIT_REACHED'
