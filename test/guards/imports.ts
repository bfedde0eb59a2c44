import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '#server/database/connection/db.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { HEADERS } from '../builders/large-file.ts'
import { type Call, makeSheet } from '../builders/sheets.ts'

export type ImportState = { status: string; rows_imported: number; error?: string }

/** Puts a file into the data folder of the processes of an installation, as `loam file put` would. */
export async function putFile(
  { folder, store }: { folder: string; store: Store },
  orgId: string,
  name: string,
  body: AsyncIterable<Uint8Array>,
): Promise<string> {
  const storage = openStorage(readConfig({ LOAM_DATA_DIR: join(folder, 'server') }))
  const upload = { orgId, name, createdBy: 'operator' }
  return (await storeUpload({ db: store.system, storage }, upload, body)).file_ref
}

/** Starts the import of a large file into a new sheet. Returns the path of the sheet. */
export async function startImport(call: Call, file_ref: string): Promise<string> {
  const base = await makeSheet(call, HEADERS)
  const mapping = Object.fromEntries(HEADERS.map((name) => [name, name]))
  await call('POST', `${base}/csv`, { file_ref, mapping })
  return base
}

export async function stateOf(call: Call, base: string): Promise<ImportState> {
  return (await call('GET', `${base}/csv`)).data
}

export async function awaitImport(call: Call, base: string): Promise<ImportState> {
  for (;;) {
    const state = await stateOf(call, base)
    if (state.status !== 'processing') return state
    await sleep(20)
  }
}
