import { type CellValue, writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET, ZipError } from 'hucre'
import { parseInstant } from '#contract/instant.ts'
import { readBoolean } from '#contract/value-fit.ts'
import { NumberText, parseLossless } from '../../lib/json/lossless-json.ts'
import { ExportFailure } from './export-columns.ts'

const MAX_CHARACTERS = 32_767
const SHEET_NAME = 'Export'
const EXACT_NUMBER = /^-?(?:\d\.?){1,15}$/
/** Matches a text that is a plain number. A text with leading zeros is more than a number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

type Column = { header: string; isNumber?: boolean | undefined; as?: 'date' | 'boolean' | undefined }

/** A date without a time. Workbooks hold no time zone, so a date-time stays the text that it is. */
const DAY = /^\d{4}-\d{2}-\d{2}$/
/** The first day that workbooks count correctly: they take 1900 for a leap year. */
const FIRST_DAY = Date.UTC(1900, 2, 1)

/**
 * Writes a workbook from blocks of lines, each a JSON array. Texts become text cells, so nothing in them is executed.
 * Rows that do not fit on one worksheet continue on the next, under the same headers.
 */
export async function* writeWorkbook(
  columns: readonly Column[],
  blocks: AsyncIterable<Buffer>,
  rowsPerSheet = XLSX_MAX_ROWS_PER_SHEET,
): AsyncGenerator<Uint8Array> {
  const stream = writeXlsxStream(rowsOf(columns, blocks), {
    name: SHEET_NAME,
    maxRowsPerSheet: rowsPerSheet,
    freezePane: { rows: 1 },
  })
  try {
    yield* stream.values()
  } catch (cause) {
    if (!(cause instanceof ZipError)) throw cause
    throw new ExportFailure('The workbook would be larger than 4 GB. Export as csv or jsonl', { cause })
  }
}

async function* rowsOf(
  columns: readonly Column[],
  blocks: AsyncIterable<Buffer>,
): AsyncGenerator<CellValue[]> {
  yield columns.map(({ header }, n) => textCell(header, `The header of column ${n + 1}`))
  let row = 0
  for await (const block of blocks) {
    for (const line of block.toString('utf8').trimEnd().split('\n')) {
      row += 1
      const values = parseLossless(line) as unknown[]
      yield values.map((value, n) => toCell(value, columns[n], row))
    }
  }
}

/** Returns the value of a cell. Numbers that a spreadsheet would round stay texts. */
function toCell(value: unknown, column: Column | undefined, row: number): CellValue {
  if (typeof value === 'string') {
    if (column?.isNumber === true && EXACT_NUMBER.test(value) && NUMBER.test(value)) return Number(value)
    const typed = column?.as === undefined ? null : readTyped(value.trim(), column.as)
    if (typed !== null) return typed
    return value.length <= 1000
      ? escapeCodes(value)
      : textCell(value, `Row ${row}, column "${column?.header}"`)
  }
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (!(value instanceof NumberText)) return null
  return EXACT_NUMBER.test(value.source) ? Number(value.source) : value.source
}

function readTyped(text: string, as: 'date' | 'boolean'): Date | boolean | null {
  if (as === 'boolean') return readBoolean(text)
  const instant = DAY.test(text) ? parseInstant(text) : null
  return instant === null || instant < FIRST_DAY ? null : new Date(instant)
}

function textCell(text: string, place: string): string {
  if (text.length > MAX_CHARACTERS) {
    throw new ExportFailure(
      `${place} has ${text.length} characters; a cell of a workbook holds at most ${MAX_CHARACTERS}. Export as csv or jsonl`,
    )
  }
  return escapeCodes(text)
}

/**
 * Escapes character codes. `_x0041_` in a workbook means the character of that code, unless its underscore is itself
 * written as a code.
 */
function escapeCodes(text: string): string {
  if (!/_x|[\uFFFE\uFFFF]/i.test(text)) return text
  return text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
}
