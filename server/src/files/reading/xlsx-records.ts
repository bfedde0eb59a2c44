import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { createTurns } from '../../lib/timing/turns.ts'
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

/** Twice what Excel's largest worksheet takes; nothing of it is held. */
const MAX_SHEET_BYTES = 16 * 1024 * 1024 * 1024
/** Cells refer to texts, so that a short block can mean a long row: batches end by the length of their texts as well. */
const BATCH_LENGTH = 1024 * 1024
const MAX_BLOCK_LENGTH = 64 * 1024 * 1024

/** Where reading goes on: how many rows were read, and where the mapped columns stand. */
const Position = z.object({ rows: z.int(), columns: Columns })
type Position = z.infer<typeof Position>

export type XlsxSource = { file: FileHandle; sheetName: string | null; spoolFolder: string }

/** The records of one worksheet. A batch is at most what one block of the archive completes. */
export async function* readXlsx(
  { file, sheetName, spoolFolder }: XlsxSource,
  headers: readonly string[],
  from: unknown,
): AsyncGenerator<Batch> {
  const picker = createPicker(headers, from === null ? null : Position.parse(from))
  const pause = createTurns()
  for await (const { rows } of readBlocks({ file, sheetName, spoolFolder })) {
    for (const batch of picker.pick(rows)) {
      yield batch
      await pause()
    }
  }
  picker.end()
}

/** Row 1 of a worksheet, the first of the others that hold anything, and the names of all worksheets. */
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

/** The rows of a worksheet, those of one block of the archive at a time. */
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

/** `place` is the number that people see; rows without cells may be left out, so that `number` is behind it. */
type NumberedRow = { row: XlsxRow; length: number; number: number; place: number }

/** Rows of one block, numbered through the whole worksheet. */
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

/** Finds the headers in row 1, and batches of records in the rows after it. */
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
        // Looking for a value in a row of holes up to the last column would take long.
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
