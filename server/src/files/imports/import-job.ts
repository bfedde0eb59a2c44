import { z } from 'zod'
import type { Db, Store } from '../../database/connection/db.ts'
import type { Config } from '../../lib/config/config.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { reasonOf } from '../../lib/errors.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { makeStorableText } from '../../lib/json/storable.ts'
import type { Log } from '../../lib/log.ts'
import { inTurns } from '../../lib/timing/fair-turns.ts'
import { arriveRows } from '../../runs/arrivals.ts'
import { isRowLimit, requireRoom } from '../../sheets/store/row-quota.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import type { Batch } from '../reading/records.ts'
import type { Storage } from '../storage/storage.ts'
import { useFile } from '../store/files.ts'
import {
  advanceImport,
  completeImport,
  failImport,
  type ImportKey,
  type ImportRecord,
  startImport,
} from '../store/imports.ts'
import { UPLOAD_DAYS } from '../uploads.ts'
import { type Chunk, readChunks } from './import-chunks.ts'
import { openSource } from './import-source.ts'

export const IMPORT_JOB = 'import_file'

/** The maximum number of starts without finishing a chunk. Then the import fails. */
const MAX_STARTS = 8

const FAILED_OFTEN =
  'The import failed after several attempts: the server could not read or write it. Try again later'

export type ImportParts = { config: Config; store: Store; storage: Storage; log: Log }

export function importJob(parts: ImportParts): Job {
  return defineJob({
    name: IMPORT_JOB,
    payload: z.object({ org_id: z.string(), import_id: z.string() }),
    run: (key, signal) => runImport(parts, key, signal),
  })
}

async function runImport(parts: ImportParts, key: ImportKey, signal: AbortSignal): Promise<void> {
  const db = parts.store.org(key.org_id)
  const found = await startImport(db, key)
  if (found === undefined) return
  if (found.starts > MAX_STARTS) return failImport(db, key, FAILED_OFTEN)
  try {
    await importFile(parts, db, found, signal)
  } catch (cause) {
    if (cause instanceof FileFault || isRowLimit(cause)) {
      return failImport(
        db,
        key,
        makeStorableText(cause.message, () => undefined),
      )
    }
    parts.log.warn(
      { import_id: key.import_id, cause: reasonOf(cause) },
      'an import was interrupted; it continues later',
    )
    throw cause
  }
}

/**
 * Reads the file once to check all of it, so that a faulty file adds no rows. Then writes it chunk by chunk. Rows,
 * count and file position are one transaction: after a crash the import continues behind the rows already written.
 */
async function importFile(
  parts: ImportParts,
  db: Db,
  found: ImportRecord,
  signal: AbortSignal,
): Promise<void> {
  const source = await openSource(parts, found)
  try {
    const read = (position: unknown) => inTurns(found.org_id, source.read(position))
    if (found.chunks === 0) {
      let rows = 0
      for await (const batch of read(null)) {
        signal.throwIfAborted()
        rows += batch.records.length
      }
      // Checks the room for all rows at once if it can be known. Rows that others add meanwhile may still use it before
      // the last chunks.
      await db.transaction().execute((trx) => requireRoom(trx, found.org_id, rows))
    }
    const chunks = await writeChunks(db, found, read(found.position), signal)
    await db.transaction().execute(async (trx) => {
      // Locks the file before the import, in the same order as starting an import does.
      await useFile(trx, found, UPLOAD_DAYS)
      if (!(await completeImport(trx, found, chunks))) throw overtakenError()
    })
  } finally {
    await source.close()
  }
}

/** Makes the error for an import that another worker has moved on. A later retry is safe in every case. */
const overtakenError = () => new Error('another worker has moved this import on')

/** Writes the chunks and reads the next chunk while one is written. Returns the total number of chunks. */
async function writeChunks(
  db: Db,
  found: ImportRecord,
  batches: AsyncIterable<Batch>,
  signal: AbortSignal,
): Promise<number> {
  let { chunks, rows_imported: imported } = found
  let writing = Promise.resolve()
  try {
    for await (const chunk of readChunks(batches, found)) {
      await writing
      signal.throwIfAborted()
      writing = writeChunk(db, found, chunk, { number: chunks, imported })
      // The promise is awaited with the next chunk. Until then its failure must not count as an unhandled rejection.
      writing.catch(() => undefined)
      chunks += 1
      imported += chunk.rows.length
    }
  } finally {
    await writing
  }
  return chunks
}

async function writeChunk(
  db: Db,
  found: ImportRecord,
  { rows, ...progress }: Chunk,
  { number, imported }: { number: number; imported: number },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const advanced = await advanceImport(trx, found, number, { rows: rows.length, ...progress })
    if (!advanced) throw overtakenError()
    const sheet = await findSheet(trx, found.org_id, found.sheet_id)
    if (sheet === undefined) throw new FileFault('The sheet was deleted')
    await arriveRows(trx, {
      sheet,
      data: rows,
      actor: { email: found.created_by, keyId: found.key_id },
      trigger: 'api',
      run: found.run_after,
      earlier: imported,
      ...(found.cap_purse_id !== null && { cap: { limitId: found.cap_purse_id } }),
    })
  })
}
