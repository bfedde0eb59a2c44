import { makeZip, type ZipPart } from './zip-writer.ts'

const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export type TestWorkbook = {
  /** The contents of <sheetData>. */
  rows?: string
  /** The other worksheets, by name. The first is called `Data`. */
  others?: Record<string, string>
  firstState?: string
  strings?: string
  /** Format codes. Style 1 of a cell is the first of them. */
  formats?: string[]
  /** Numbers of built-in formats. Their styles come after those of `formats`. */
  builtIn?: number[]
  date1904?: true
  /** Parts that replace others or are added. */
  parts?: ZipPart[]
  without?: string[]
}

/** Makes a workbook as a spreadsheet program would, as far as the reader needs it, with optional faults. */
export function makeWorkbook(book: TestWorkbook, zip: Parameters<typeof makeZip>[1] = {}): Buffer {
  const sheets = { Data: book.rows ?? '', ...book.others }
  const names = Object.keys(sheets)
  const relations = [
    ...names.map((_, n) => relation(`rId${n + 1}`, 'worksheet', `worksheets/sheet${n + 1}.xml`)),
    relation('rIdS', 'styles', 'styles.xml'),
    ...(book.strings === undefined ? [] : [relation('rIdT', 'sharedStrings', 'sharedStrings.xml')]),
  ]
  const listed = names.map(
    (name, n) =>
      `<sheet name="${name}" sheetId="${n + 1}"${n === 0 && book.firstState ? ` state="${book.firstState}"` : ''} r:id="rId${n + 1}"/>`,
  )
  const parts: ZipPart[] = [
    { name: '_rels/.rels', content: relationships([relation('rId1', 'officeDocument', 'xl/workbook.xml')]) },
    {
      name: 'xl/workbook.xml',
      content: `<?xml version="1.0"?><workbook xmlns:r="${TYPES}"><workbookPr${book.date1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
    },
    { name: 'xl/_rels/workbook.xml.rels', content: relationships(relations) },
    { name: 'xl/styles.xml', content: stylesOf(book) },
    ...Object.values(sheets).map((rows, n) => ({
      name: `xl/worksheets/sheet${n + 1}.xml`,
      content: `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    })),
    ...(book.strings === undefined
      ? []
      : [{ name: 'xl/sharedStrings.xml', content: `<sst>${book.strings}</sst>` }]),
  ]
  const replaced = new Set([...(book.parts ?? []).map((part) => part.name), ...(book.without ?? [])])
  return makeZip([...parts.filter((part) => !replaced.has(part.name)), ...(book.parts ?? [])], zip)
}

/** Makes a row of texts, stored in the cells themselves. */
export const textRow = (number: number, ...texts: string[]): string =>
  `<row r="${number}">${texts.map((text, n) => `<c r="${String.fromCharCode(65 + n)}${number}" t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`

const relation = (id: string, kind: string, target: string) =>
  `<Relationship Id="${id}" Type="${TYPES}/${kind}" Target="${target}"/>`

const relationships = (entries: string[]) => `<Relationships>${entries.join('')}</Relationships>`

function stylesOf({ formats = [], builtIn = [] }: TestWorkbook): string {
  const codes = formats.map((code, n) => `<numFmt numFmtId="${164 + n}" formatCode="${code}"/>`)
  const ids = [0, ...formats.map((_, n) => 164 + n), ...builtIn]
  const xfs = ids.map((id) => `<xf numFmtId="${id}"/>`)
  return `<styleSheet><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${xfs.join('')}</cellXfs></styleSheet>`
}
