import { type CellValue, writeXlsxStream, XLSX_MAX_ROWS_PER_SHEET, ZipError } from 'hucre'
import { NumberText, parseLossless } from '../../lib/json/lossless-json.ts'
import { ExportFailure } from './export-failure.ts'

const MAX_CHARACTERS = 32_767
const SHEET_NAME = 'Export'
const DIGITS_KEPT = /^-?(?:\d\.?){1,15}$/
/** A text that is a number as people write it; zeros in front are more than a number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

type Column = { header: string; isNumber?: boolean | undefined }

/**
 * A workbook from blocks of lines, a JSON array each. Texts are cells of text, so nothing in them runs. What does not fit on
 * one worksheet goes on to the next, under the same headers.
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
      yield values.map((value, n) => cellOf(value, columns[n], row))
    }
  }
}

/** Numbers that a spreadsheet would round stay texts. */
function cellOf(value: unknown, column: Column | undefined, row: number): CellValue {
  if (typeof value === 'string') {
    if (column?.isNumber === true && DIGITS_KEPT.test(value) && NUMBER.test(value)) return Number(value)
    return value.length <= 1000
      ? escapeCodes(value)
      : textCell(value, `Row ${row}, column "${column?.header}"`)
  }
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (!(value instanceof NumberText)) return null
  return DIGITS_KEPT.test(value.source) ? Number(value.source) : value.source
}

function textCell(text: string, place: string): string {
  if (text.length > MAX_CHARACTERS) {
    throw new ExportFailure(
      `${place} has ${text.length} characters; a cell of a workbook holds ${MAX_CHARACTERS}. Export as csv or jsonl`,
    )
  }
  return escapeCodes(text)
}

/** `_x0041_` in a workbook means the character of that code, unless its underscore is written as a code itself. */
function escapeCodes(text: string): string {
  if (!/_x|[\uFFFE\uFFFF]/i.test(text)) return text
  return text.replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_').replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
}
