import { z } from 'zod'
import { isUnavailable, type Store } from '../../database/connection/db.ts'
import { openSnapshot, type Snapshot } from '../../database/connection/snapshot.ts'
import { reasonOf } from '../../lib/errors.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import type { Log } from '../../lib/log.ts'
import { plural } from '../../lib/plural.ts'
import { inTurns } from '../../lib/timing/fair-turns.ts'
import type { Storage } from '../storage/storage.ts'
import { listOutputNames, scopeOfExport } from '../store/export-lines.ts'
import {
  advanceExport,
  beginExport,
  completeExport,
  deleteExport,
  type ExportRecord,
  failExport,
  listForgottenExports,
} from '../store/exports.ts'
import { isStorageLimit, measureStorage, requireStorage, withinStorage } from '../store/storage-quota.ts'
import { EXPORT_BODIES } from './export-body.ts'
import { listExportColumns, ExportFailure } from './export-columns.ts'

const MAX_ATTEMPTS = 5
const ADVANCE_MS = 500
const FORGOTTEN_AT_ONCE = 500

type Parts = { store: Store; storage: Storage; databaseUrl: string; log: Log }

export function exportJobs(parts: Parts): Job[] {
  return [
    defineJob({
      name: 'export_sheet',
      payload: z.object({ org_id: z.string(), export_id: z.string() }),
      run: (key, signal) => exportSheet(parts, key, signal),
    }),
    defineJob({
      name: 'expire_exports',
      cron: '*/10 * * * *',
      payload: z.unknown(),
      run: () => removeOldExports(parts),
    }),
  ]
}

/**
 * Returns the storage key of an attempt's file. Each attempt has its own, so that an abandoned attempt can neither
 * replace nor remove another's file.
 */
export function exportFileKey(
  { org_id, export_id }: { org_id: string; export_id: string },
  attempt: number,
): string {
  return `${org_id}/export-${export_id}-${attempt}`
}

/**
 * Builds the file from the beginning on each attempt, because a snapshot ends with its process. Only the last of
 * several attempts counts.
 */
async function exportSheet(
  parts: Parts,
  key: { org_id: string; export_id: string },
  signal: AbortSignal,
): Promise<void> {
  const { store, storage, log } = parts
  const db = store.org(key.org_id)
  const record = await beginExport(db, key)
  if (record === undefined) return
  if (record.attempt > 1) await storage.remove(exportFileKey(key, record.attempt - 1))
  try {
    const file = exportFileKey(key, record.attempt)
    const written = await writeFile(parts, record, file, signal)
    const completed = await db.transaction().execute(async (trx) => {
      await requireStorage(trx, key.org_id, written.bytes)
      return completeExport(trx, record, written)
    })
    if (completed) return
    await storage.remove(file)
    throw sheetDeletedError()
  } catch (cause) {
    if (isStorageLimit(cause)) await storage.remove(exportFileKey(key, record.attempt))
    if (cause instanceof ExportFailure || isStorageLimit(cause)) return failExport(db, record, cause.message)
    if (signal.aborted || isUnavailable(cause) || record.attempt < MAX_ATTEMPTS) throw cause
    log.error({ err: cause, ...key }, 'an export failed for good')
    const tries = `after ${plural(record.attempt, 'attempt')}`
    await failExport(db, record, `The file could not be built ${tries}. Try again later`)
  }
}

/**
 * Makes the error for a deleted sheet. If another process has taken over the export instead, the error has no effect.
 */
function sheetDeletedError(): ExportFailure {
  return new ExportFailure('The sheet was deleted while it was exported')
}

async function writeFile(
  { store, storage, databaseUrl }: Parts,
  record: ExportRecord,
  file: string,
  signal: AbortSignal,
): Promise<{ rows: number; bytes: number }> {
  const snapshot = await openSnapshot(store.system, databaseUrl, record.org_id, signal)
  try {
    const { scope, total, columns } = await survey(snapshot, record)
    let rows = 0
    const advance = throttle(async () => {
      const progress = Math.floor((rows * 100) / total)
      if (!(await advanceExport(store.org(record.org_id), record, { rows, progress })))
        throw sheetDeletedError()
    })
    const count = (more: number) => {
      rows += more
      return advance()
    }
    const body = inTurns(record.org_id, EXPORT_BODIES[record.format](snapshot, scope, columns, count))
    const hasMark = record.format === 'csv' && record.plan.bom === true
    const room = await measureStorage(store.org(record.org_id), record.org_id)
    const bytes = await storage.write(file, withinStorage(room, hasMark ? addByteOrderMark(body) : body))
    return { rows, bytes }
  } finally {
    await snapshot.close()
  }
}

/** Puts a byte order mark before the file, so that spreadsheets do not guess another encoding than UTF-8 (D82). */
async function* addByteOrderMark(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('\uFEFF')
  yield* body
}

async function survey(snapshot: Snapshot, record: ExportRecord) {
  const { plan } = record
  const found = await scopeOfExport(
    snapshot,
    record,
    plan.actions.map(({ id }) => id),
    plan.include ?? [],
  )
  if (found === null) throw sheetDeletedError()
  const open = plan.actions.filter((action) => action.open).map(({ id }) => id)
  return { ...found, columns: listExportColumns(plan, await listOutputNames(snapshot, found.scope, open)) }
}

function throttle(work: () => Promise<void>): () => Promise<void> {
  let last = Date.now()
  return async () => {
    if (Date.now() - last < ADVANCE_MS) return
    await work()
    last = Date.now()
  }
}

/** Removes old exports. Files go first: a record that is left is found again, a file without a record never is. */
async function removeOldExports({ store, storage, log }: Parts): Promise<void> {
  for (const record of await listForgottenExports(store.system, FORGOTTEN_AT_ONCE)) {
    try {
      for (let attempt = 1; attempt <= record.attempt; attempt += 1) {
        await storage.remove(exportFileKey(record, attempt))
      }
      await deleteExport(store.system, record)
    } catch (cause) {
      log.warn(
        { export_id: record.export_id, cause: reasonOf(cause) },
        'an old export could not be removed; it is retried',
      )
    }
  }
}
