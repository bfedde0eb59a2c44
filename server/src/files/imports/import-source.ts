import { join } from 'node:path'
import { getExtension } from '#contract/imports.ts'
import type { Config } from '../../lib/config/config.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import { inTurns } from '../../lib/timing/fair-turns.ts'
import { readCsv } from '../reading/csv-records.ts'
import type { Batch } from '../reading/records.ts'
import { spool } from '../reading/spool.ts'
import { readXlsx } from '../reading/xlsx-records.ts'
import type { Storage } from '../storage/storage.ts'
import { createStorageKey } from '../store/files.ts'
import type { ImportRecord } from '../store/imports.ts'

/** The file of an import with its mapping. */
export type ImportedFile = Pick<ImportRecord, 'org_id' | 'file_ref' | 'sheet_name' | 'mapping'>

export type ImportSource = {
  /** Reads the records from a position on, or from the start. */
  read(position: unknown): AsyncIterable<Batch>
  close(): Promise<void>
}

/** Opens the file of an import. A workbook is not read in order, so it is copied to this machine first. */
export async function openSource(
  { config, storage }: { config: Config; storage: Storage },
  { org_id, file_ref, sheet_name, mapping }: ImportedFile,
): Promise<ImportSource> {
  const headers = mapping.map(({ header }) => header)
  const open = async (start: number) => {
    const body = await storage.read(createStorageKey({ org_id, file_ref }), { start })
    if (body === null) throw new FileFault(`The file ${file_ref} no longer exists; upload it again`)
    return body
  }
  if (getExtension(file_ref) === 'csv') {
    return { read: (position) => readCsv(open, headers, position), close: async () => {} }
  }
  const spoolFolder = join(config.LOAM_DATA_DIR, 'spool')
  const file = await spool(await open(0), spoolFolder)
  return {
    read: (position) => readXlsx({ file, sheetName: sheet_name, spoolFolder }, headers, position),
    close: () => file.close(),
  }
}

/** The maximum counting time, because a caller waits. */
const MAX_COUNTING_MS = 60_000

/** Counts the rows that an import would add, by reading the file. Throws a 400 if the file cannot be read. */
export async function countImportedRows(
  parts: { config: Config; storage: Storage },
  file: ImportedFile,
): Promise<number> {
  const started = performance.now()
  let rows = 0
  try {
    const source = await openSource(parts, file)
    try {
      for await (const batch of inTurns(file.org_id, source.read(null))) {
        rows += batch.records.length
        if (performance.now() - started <= MAX_COUNTING_MS) continue
        const message =
          'The file is too large to count its rows while you wait; use Estimate with new_rows instead'
        throw new AppError('Service Unavailable', message, { retryAfter: MAX_COUNTING_MS / 1000 })
      }
    } finally {
      await source.close()
    }
  } catch (cause) {
    if (cause instanceof FileFault) throw invalid('file_ref', cause.message)
    throw cause
  }
  return rows
}
