import { extensionOf } from '#contract/imports.ts'
import { invalid } from '../lib/errors.ts'
import { randomText } from '../lib/security/keys.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import { announceFile, completeFile, storageKeyOf } from '../store/files/files.ts'
import {
  isStorageLimit,
  measureStorage,
  requireStorage,
  withinStorage,
} from '../store/files/storage-quota.ts'
import type { Storage } from './storage/storage.ts'

export const UPLOAD = 'upload'
/** An upload that nobody imports for so long is removed. */
export const UPLOAD_DAYS = 7
/** One that does not arrive within this time never will. */
const ARRIVAL_DAYS = 1
const REF_LENGTH = 32
const DAY_MS = 86_400_000

export type StoredUpload = { file_ref: string; size_bytes: number }

/** Keeps a file under a name that nobody can guess. */
export async function storeUpload(
  { db, storage }: { db: Db; storage: Storage },
  { orgId, name, createdBy }: { orgId: string; name: string; createdBy: string },
  body: AsyncIterable<Uint8Array>,
): Promise<StoredUpload> {
  const extension = extensionOf(name)
  if (extension === undefined)
    throw invalid('path', `${name} must be a file whose name ends in .csv or .xlsx`)
  const file = { org_id: orgId, file_ref: `${randomText(REF_LENGTH)}.${extension}` }
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
  await announceFile(db, {
    ...file,
    kind: UPLOAD,
    name,
    created_by: createdBy,
    expires_at: inDays(ARRIVAL_DAYS),
  })
  const room = await measureStorage(db, orgId)
  try {
    const size_bytes = await storage.write(storageKeyOf(file), withinStorage(room, body))
    await inTransaction(db, async (trx) => {
      await requireStorage(trx, orgId, size_bytes)
      await completeFile(trx, file, { size_bytes, expires_at: inDays(UPLOAD_DAYS) })
    })
    return { file_ref: file.file_ref, size_bytes }
  } catch (cause) {
    // What was announced expires by itself; its bytes need not lie there until then.
    if (isStorageLimit(cause)) await storage.remove(storageKeyOf(file))
    throw cause
  }
}
