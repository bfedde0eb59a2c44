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
import { type Chunk, chunksOf } from './import-chunks.ts'
import { openSource } from './import-source.ts'

export const IMPORT_JOB = 'import_file'

/** An import that began this often without getting a single chunk further is given up. */
const MAX_STARTS = 8

const GIVEN_UP =
  'The import was given up after several attempts: the server could not read or write it. Try again later'

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
  if (found.starts > MAX_STARTS) return failImport(db, key, GIVEN_UP)
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
      'an import was interrupted; it goes on later',
    )
    throw cause
  }
}

/**
 * Reads the file once to see that all of it can be read, so that a file with a fault leaves no rows, and then writes it chunk by
 * chunk. Rows, count and place in the file are one transaction: whoever goes on after a crash goes on behind them.
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
      // All of them or none, where it can be known. Whoever adds rows meanwhile may still be ahead of the last chunks.
      await db.transaction().execute((trx) => requireRoom(trx, found.org_id, rows))
    }
    const chunks = await writeChunks(db, found, read(found.position), signal)
    await db.transaction().execute(async (trx) => {
      // The file before the import, as whoever starts one does.
      await useFile(trx, found, UPLOAD_DAYS)
      if (!(await completeImport(trx, found, chunks))) throw overtaken()
    })
  } finally {
    await source.close()
  }
}

/** Somebody else is at this import, or was a moment ago. Looking again later is safe whoever it was. */
const overtaken = () => new Error('another worker has moved this import on')

/** While one chunk is being written, the next one is read. Answers how many there are in all. */
async function writeChunks(
  db: Db,
  found: ImportRecord,
  batches: AsyncIterable<Batch>,
  signal: AbortSignal,
): Promise<number> {
  let { chunks, rows_imported: imported } = found
  let writing = Promise.resolve()
  try {
    for await (const chunk of chunksOf(batches, found)) {
      await writing
      signal.throwIfAborted()
      writing = writeChunk(db, found, chunk, chunks, imported)
      // It is awaited with the next one; until then its failure must not count as unheard.
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
  number: number,
  imported: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const advanced = await advanceImport(trx, found, number, { rows: rows.length, ...progress })
    if (!advanced) throw overtaken()
    const sheet = await findSheet(trx, found.org_id, found.sheet_id)
    if (sheet === undefined) throw new FileFault('The sheet was deleted')
    await arriveRows(trx, {
      sheet,
      data: rows,
      actor: { email: found.created_by, keyId: found.key_id },
      trigger: 'api',
      run: found.run_after,
      earlier: imported,
      ...(found.cap_purse_id !== null && { cap: { purseId: found.cap_purse_id } }),
    })
  })
}
