import { FileFault, MAX_RECORD_BYTES } from '../../lib/csv/file-fault.ts'
import type { SharedStrings } from './xlsx-strings.ts'
import { formatNumber, type NumberKind, unescapeText } from './xlsx-values.ts'
import { readAttribute, type XmlEvents } from './xml-scanner.ts'
import { damaged } from './zip-archive.ts'

const MAX_COLUMNS = 16_384
const PLAIN: NumberKind = { kind: 'number', zeros: 0, fraction: false }

/** The texts of a row by column, with holes for missing cells. */
export type XlsxRow = (string | undefined)[]

type WorkbookParts = { styles: NumberKind[]; is1904: boolean; strings: SharedStrings }

type XlsxCell = { column: number; type: string; style: number }
const NO_CELL: XlsxCell = { column: -1, type: 'n', style: 0 }

/** Builds rows from the XML of a worksheet. Each cell is the text that a person sees in it. */
export function createCellReader(
  parts: WorkbookParts,
  onRow: (row: XlsxRow, length: number, place: number) => void,
): Required<XmlEvents> {
  let inData = false
  let row: XlsxRow = []
  let rowNumber = 0
  let rowLength = 0
  let cell = NO_CELL
  let text = ''
  /** Set inside a value or an inline text, but not inside a formula or a phonetic hint. */
  let collects = false
  let inPhonetic = false

  function count(length: number): void {
    rowLength += length
    if (rowLength > MAX_RECORD_BYTES) throw new FileFault(rowTooLong(rowNumber))
  }

  return {
    open(name, attributes) {
      if (name === 'sheetData') inData = true
      if (!inData) return
      switch (name) {
        case 'row':
          rowNumber = Number(readAttribute(attributes, 'r') ?? rowNumber + 1)
          row = []
          rowLength = 0
          cell = NO_CELL
          break
        case 'c':
          cell = readCell(attributes, cell, rowNumber)
          text = ''
          break
        case 'v':
          collects = true
          break
        case 't':
          collects = !inPhonetic
          break
        case 'rPh':
          inPhonetic = true
          break
        default:
      }
    },
    text(piece) {
      if (!collects) return
      text += piece
      if (text.length > MAX_RECORD_BYTES) count(text.length)
    },
    close(name) {
      if (!inData) return
      if (name === 'v' || name === 't') collects = false
      else if (name === 'rPh') inPhonetic = false
      else if (name === 'c') {
        const value = valueOf(cell, text, parts)
        if (value === '') return
        row[cell.column] = value
        count(value.length)
      } else if (name === 'row') onRow(row, rowLength, rowNumber)
      else if (name === 'sheetData') inData = false
    },
  }
}

/** Reads the attributes of a cell. Without a reference, it follows the cell before it. */
function readCell(attributes: string, before: XlsxCell, rowNumber: number): XlsxCell {
  const reference = readAttribute(attributes, 'r')
  const column = reference === undefined ? before.column + 1 : columnOf(reference)
  if (column >= MAX_COLUMNS) throw damaged(`row ${rowNumber} has a cell beyond column XFD`)
  const type = readAttribute(attributes, 't') ?? 'n'
  return { column, type, style: Number(readAttribute(attributes, 's') ?? 0) }
}

function valueOf(
  { type, style }: XlsxCell,
  text: string,
  { styles, is1904, strings }: WorkbookParts,
): string {
  if (text === '') return ''
  switch (type) {
    case 's':
      return strings.get(Number(text))
    case 'b':
      return text.trim() === '1' || text.trim() === 'true' ? 'TRUE' : 'FALSE'
    case 'n':
      return formatNumber(text.trim(), styles[style] ?? PLAIN, is1904)
    case 'str':
    case 'inlineStr':
      return unescapeText(text)
    default:
      return text
  }
}

export const rowTooLong = (place: number) =>
  `Row ${place} is longer than ${MAX_RECORD_BYTES / 1024 / 1024} MB`

/** Returns the column of a reference: 0 for A in `A5`, 26 for AA. */
function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < reference.length; at++) {
    const letter = (reference.charCodeAt(at) & 0xdf) - 64
    if (letter < 1 || letter > 26) break
    column = column * 26 + letter
  }
  if (column === 0) throw damaged(`a cell has the reference ${reference}`)
  return column - 1
}
