import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { pause } from '../../lib/timing/turns.ts'
import {
  type Batch,
  Columns,
  locateHeaders,
  pickColumns,
  refuseLarge,
  type SourceRecord,
  SURELY_FITS,
} from './records.ts'
import { openNameless } from './spool.ts'
import { createCellReader, rowTooLong, type XlsxRow } from './xlsx-cells.ts'
import { createSharedStrings, readSharedStrings } from './xlsx-strings.ts'
import { openWorkbook, scanPart } from './xlsx-workbook.ts'
import { openZip } from './zip-archive.ts'

/** The maximum size of a worksheet: twice that of Excel's largest. It is never held in memory. */
const MAX_SHEET_BYTES = 16 * 1024 * 1024 * 1024
/** The maximum text length of a batch. Cells refer to shared texts, so a short block can produce long rows. */
const BATCH_LENGTH = 1024 * 1024
const MAX_BLOCK_LENGTH = 64 * 1024 * 1024

/** The position to continue from: the number of rows read, and the mapped columns. */
const Position = z.object({ rows: z.int(), columns: Columns })
type Position = z.infer<typeof Position>

export type XlsxSource = { file: FileHandle; sheetName: string | null; spoolFolder: string }

/** Reads the records of one worksheet. A batch holds at most the rows that one block of the archive completes. */
export async function* readXlsx(
  { file, sheetName, spoolFolder }: XlsxSource,
  headers: readonly string[],
  from: unknown,
): AsyncGenerator<Batch> {
  const picker = createPicker(headers, from === null ? null : Position.parse(from))
  for await (const { rows } of readBlocks({ file, sheetName, spoolFolder })) {
    for (const batch of picker.pick(rows)) {
      yield batch
      await pause()
    }
  }
  picker.end()
}

/** Returns row 1 of a worksheet, the first other rows with values, and the names of all worksheets. */
export async function readXlsxHead(
  source: XlsxSource,
  count: number,
): Promise<{ rows: XlsxRow[]; names: string[] }> {
  const head: { rows: XlsxRow[]; names: string[] } = { rows: [], names: [] }
  for await (const { rows, names } of readBlocks(source)) {
    head.names = names
    if (head.rows.length === 0 && rows[0] !== undefined && rows[0].place > 1) head.rows.push([])
    head.rows.push(...rows.flatMap(({ row, length, place }) => (place === 1 || length > 0 ? [row] : [])))
    if (head.rows.length >= count) break
  }
  return { ...head, rows: head.rows.slice(0, count) }
}

/** Reads the rows of a worksheet, one block of the archive at a time. */
async function* readBlocks({ file, sheetName, spoolFolder }: XlsxSource) {
  const zip = await openZip(file)
  const workbook = await openWorkbook(zip, sheetName)
  const stringsFile = await openNameless(spoolFolder)
  try {
    const strings = createSharedStrings(stringsFile)
    if (workbook.sharedStrings !== undefined) await readSharedStrings(zip, workbook.sharedStrings, strings)
    const rows = collectRows()
    const cells = createCellReader({ ...workbook, strings }, (row, length, place) =>
      rows.add(row, length, place),
    )
    for await (const _block of scanPart(zip, workbook.worksheet, cells, MAX_SHEET_BYTES)) {
      yield { rows: rows.take(), names: workbook.names }
    }
  } finally {
    await stringsFile.close()
  }
}

/**
 * A row. `place` is the row number that people see. `number` counts the rows in the file and may be smaller, because
 * rows without cells may be left out.
 */
type NumberedRow = { row: XlsxRow; length: number; number: number; place: number }

/** Collects the rows of one block and numbers them through the whole worksheet. */
function collectRows() {
  let rows: NumberedRow[] = []
  let count = 0
  let total = 0
  return {
    add(row: XlsxRow, length: number, place: number): void {
      count += 1
      total += length
      if (total > MAX_BLOCK_LENGTH)
        throw new FileFault('The worksheet was refused: its cells repeat too much text')
      rows.push({ row, length, number: count, place })
    },
    take(): NumberedRow[] {
      const taken = rows
      rows = []
      total = 0
      return taken
    },
  }
}

/** Finds the headers in row 1 and makes batches of records from the rows after it. */
function createPicker(headers: readonly string[], from: Position | null) {
  let columns = from?.columns
  return {
    *pick(rows: NumberedRow[]): Generator<Batch> {
      let records: SourceRecord[] = []
      let sum = 0
      for (const { row, length, number, place } of rows) {
        if (number <= (from?.rows ?? 0)) continue
        if (columns === undefined) {
          columns = locateHeaders(place === 1 ? row : [], headers)
          continue
        }
        // A row without values is skipped at once: searching its holes up to the last column would be slow.
        if (length === 0) continue
        const record = pickColumns(row, columns)
        if (length > SURELY_FITS) {
          refuseLarge(record, headers, { place: `row ${place}`, tooLong: rowTooLong(place) })
        }
        records.push(record)
        sum += length
        if (sum < BATCH_LENGTH) continue
        yield { records, position: { rows: number, columns } satisfies Position }
        records = []
        sum = 0
      }
      const last = rows.at(-1)?.number
      if (records.length === 0 || last === undefined || columns === undefined) return
      yield { records, position: { rows: last, columns } satisfies Position }
    },
    end(): void {
      if (columns === undefined) locateHeaders([], headers)
    },
  }
}
