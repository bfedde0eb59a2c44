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

/** Builds rows from the XML of a worksheet. Each cell is the text that a person sees in it. */
export function createCellReader(
  { styles, is1904, strings }: WorkbookParts,
  onRow: (row: XlsxRow, length: number, place: number) => void,
): Required<XmlEvents> {
  let inData = false
  let row: XlsxRow = []
  let rowNumber = 0
  let rowLength = 0
  let column = -1
  let type = 'n'
  let style = 0
  let text = ''
  /** Set inside a value or an inline text, but not inside a formula or a phonetic hint. */
  let collects = false
  let inPhonetic = false

  function startCell(attributes: string): void {
    const reference = readAttribute(attributes, 'r')
    column = reference === undefined ? column + 1 : columnOf(reference)
    if (column >= MAX_COLUMNS) throw damaged(`row ${rowNumber} has a cell beyond column XFD`)
    type = readAttribute(attributes, 't') ?? 'n'
    style = Number(readAttribute(attributes, 's') ?? 0)
    text = ''
  }

  function count(length: number): void {
    rowLength += length
    if (rowLength > MAX_RECORD_BYTES) {
      throw new FileFault(rowTooLong(rowNumber))
    }
  }

  function valueOf(): string {
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

  return {
    open(name, attributes) {
      if (name === 'sheetData') inData = true
      if (!inData) return
      switch (name) {
        case 'row':
          rowNumber = Number(readAttribute(attributes, 'r') ?? rowNumber + 1)
          row = []
          rowLength = 0
          column = -1
          break
        case 'c':
          startCell(attributes)
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
      switch (name) {
        case 'v':
        case 't':
          collects = false
          break
        case 'rPh':
          inPhonetic = false
          break
        case 'c': {
          const value = valueOf()
          if (value === '') break
          row[column] = value
          count(value.length)
          break
        }
        case 'row':
          onRow(row, rowLength, rowNumber)
          break
        case 'sheetData':
          inData = false
          break
        default:
      }
    },
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
