import type { FieldError } from '#contract/errors.ts'
import { MAX_RECORDS } from '#contract/records.ts'
import type { Db } from '#server/database/connection/db.ts'
import { OPERATOR, recordAudit } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import type { CheckedRecord } from '#server/records/record.ts'
import { readRecordFile } from './record-file.ts'
import { type Mapping, mapRecord } from './record-mapping.ts'

const MAX_SHOWN = 20

export type ImportReport = {
  records: number
  created: number
  updated: number
  unchanged: number
  merged: number
  rejected: number
  /** The first of the rejected records, with their errors. */
  faults: { record: number; errors: FieldError[] }[]
}

/** Imports a file, batch by batch. If a file is imported again, its records count as unchanged. */
export async function importRecords(
  db: Db,
  orgId: string,
  path: string,
  mapping: Mapping,
): Promise<ImportReport> {
  const report = { records: 0, created: 0, updated: 0, unchanged: 0, merged: 0, rejected: 0 }
  const faults: ImportReport['faults'] = []
  let batch: CheckedRecord[] = []
  const ingest = async () => {
    const given = { source: mapping.source, actor: OPERATOR.email, records: batch }
    const { results, merged } = await ingestRecords(db, orgId, given)
    // An entity named by several records counts as created only once.
    const made = new Set(results.filter(({ created }) => created).map(({ entity_id }) => entity_id))
    const seen = new Set<string>()
    for (const { entity_id, changed } of results) {
      const isNew = made.has(entity_id) && !seen.has(entity_id)
      report[isNew ? 'created' : changed ? 'updated' : 'unchanged'] += 1
      seen.add(entity_id)
    }
    report.merged += merged
    batch = []
  }
  for await (const read of readRecordFile(path)) {
    report.records += 1
    const mapped =
      'fault' in read
        ? { faults: [{ field: 'line', message: read.fault }] }
        : mapRecord(read.content, mapping)
    if ('record' in mapped) batch.push(mapped.record)
    else {
      report.rejected += 1
      if (faults.length < MAX_SHOWN) faults.push({ record: read.number, errors: mapped.faults })
    }
    if (batch.length === MAX_RECORDS) await ingest()
  }
  if (batch.length > 0) await ingest()
  await recordAudit(db, orgId, OPERATOR, {
    action: 'records.imported',
    target: mapping.source,
    details: { kind: mapping.kind, ...report },
  })
  return { ...report, faults }
}
