import type { ExportFormat } from '#contract/exports.ts'
import type { Lines } from '../../database/connection/copy-out.ts'
import type { Snapshot } from '../../database/connection/snapshot.ts'
import { arrayLines, type ExportScope, headerRow, objectLines, textRows } from '../store/export-lines.ts'
import type { ExportColumn } from './export-columns.ts'

/** Receives the number of rows that have been added to the file. */
export type Count = (rows: number) => Promise<void>

type Body = (
  snapshot: Snapshot,
  scope: ExportScope,
  columns: ExportColumn[],
  count: Count,
) => AsyncIterable<Uint8Array>

/**
 * The generators of file contents, by format. They work while the file is read. CSV is RFC 4180 in UTF-8 without a byte
 * order mark.
 */
export const EXPORT_BODIES: Record<ExportFormat, Body> = {
  async *csv(snapshot, scope, columns, count) {
    const headers = columns.map(({ header }) => header)
    for await (const { bytes } of snapshot.copy(headerRow(headers), '\r\n')) yield bytes
    yield* counted(snapshot.copy(textRows(scope, columns), '\r\n'), count)
  },
  jsonl: (snapshot, scope, columns, count) =>
    counted(snapshot.copy(objectLines(scope, columns), '\n'), count),
  async *xlsx(snapshot, scope, columns, count) {
    const { writeWorkbook } = await import('./xlsx-writer.ts')
    yield* writeWorkbook(columns, counted(snapshot.copy(arrayLines(scope, columns), '\n'), count))
  },
}

async function* counted(blocks: AsyncIterable<Lines>, count: Count): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    await count(block.count)
    yield block.bytes
  }
}
