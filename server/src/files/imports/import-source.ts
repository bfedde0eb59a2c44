import { join } from 'node:path'
import { extensionOf } from '#contract/imports.ts'
import type { Config } from '../../lib/config/config.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { storageKeyOf } from '../../store/files/files.ts'
import type { ImportRecord } from '../../store/files/imports.ts'
import { readCsv } from '../reading/csv-records.ts'
import type { Batch } from '../reading/records.ts'
import { spool } from '../reading/spool.ts'
import { readXlsx } from '../reading/xlsx-records.ts'
import type { Storage } from '../storage/storage.ts'

export type ImportSource = {
  /** The records from a position on, or from the start. */
  read(position: unknown): AsyncIterable<Batch>
  close(): Promise<void>
}

/** The file of an import. A workbook is read here and there, so it is copied to this machine first. */
export async function openSource(
  { config, storage }: { config: Config; storage: Storage },
  { org_id, file_ref, sheet_name, mapping }: ImportRecord,
): Promise<ImportSource> {
  const headers = mapping.map(({ header }) => header)
  const open = async (start: number) => {
    const body = await storage.read(storageKeyOf({ org_id, file_ref }), { start })
    if (body === null) throw new FileFault(`The file ${file_ref} is no longer there; put it again`)
    return body
  }
  if (extensionOf(file_ref) === 'csv') {
    return { read: (position) => readCsv(open, headers, position), close: async () => {} }
  }
  const spoolFolder = join(config.LOAM_DATA_DIR, 'spool')
  const file = await spool(await open(0), spoolFolder)
  return {
    read: (position) => readXlsx({ file, sheetName: sheet_name, spoolFolder }, headers, position),
    close: () => file.close(),
  }
}
