import { getExtension, explainFileName } from '#contract/imports.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { randomText } from '../lib/security/keys.ts'
import type { Storage } from './storage/storage.ts'
import { announceFile, completeFile, type FileKey, createStorageKey } from './store/files.ts'
import { isStorageLimit, measureStorage, requireStorage, withinStorage } from './store/storage-quota.ts'

export const UPLOAD = 'upload'
/** The days after its last use at which an upload is removed. */
export const UPLOAD_DAYS = 7
/** The days within which an upload must arrive. */
const ARRIVAL_DAYS = 1
const REF_LENGTH = 32
const DAY_MS = 86_400_000

export type StoredUpload = { file_ref: string; size_bytes: number }

type Stores = { db: Db; storage: Storage }
type Upload = { orgId: string; name: string; createdBy: string }
/** An upload whose bytes have all arrived. It cannot be imported before it is kept. */
export type ReceivedUpload = FileKey & { size_bytes: number }

/** Stores a file under a name that cannot be guessed. */
export async function storeUpload(
  stores: Stores,
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<StoredUpload> {
  const received = await receiveUpload(stores, upload, body)
  try {
    return await keepUpload(stores.db, received)
  } catch (cause) {
    if (isStorageLimit(cause)) await discardUpload(stores.storage, received)
    throw cause
  }
}

export async function receiveUpload(
  { db, storage }: Stores,
  { orgId, name, createdBy }: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<ReceivedUpload> {
  const extension = getExtension(name)
  if (extension === undefined)
    throw invalid('path', explainFileName(name, `${name} must be a file whose name ends in .csv or .xlsx`))
  const file = { org_id: orgId, file_ref: `${randomText(REF_LENGTH)}.${extension}` }
  const announced = { ...file, kind: UPLOAD, name, created_by: createdBy, expires_at: inDays(ARRIVAL_DAYS) }
  await announceFile(db, announced)
  const room = await measureStorage(db, orgId)
  return { ...file, size_bytes: await storage.write(createStorageKey(file), withinStorage(room, body)) }
}

/** Makes an upload importable if the organisation has room for it. */
export async function keepUpload(db: Db, { size_bytes, ...file }: ReceivedUpload): Promise<StoredUpload> {
  await inTransaction(db, async (trx) => {
    await requireStorage(trx, file.org_id, size_bytes)
    await completeFile(trx, file, { size_bytes, expires_at: inDays(UPLOAD_DAYS) })
  })
  return { file_ref: file.file_ref, size_bytes }
}

/** Removes the bytes of an upload at once. Its record expires later. */
export async function discardUpload(storage: Storage, file: FileKey): Promise<void> {
  await storage.remove(createStorageKey(file))
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * DAY_MS)
}
