import { posix } from 'node:path'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { createUtf8Decoder } from '../../lib/csv/utf8-decoder.ts'
import { pause } from '../../lib/timing/turns.ts'
import { listNames, quote } from './records.ts'
import { kindOfBuiltIn, kindOfFormat, type NumberKind } from './xlsx-values.ts'
import { readAttribute, createXmlScanner, type XmlEvents } from './xml-scanner.ts'
import { damaged, type ZipArchive } from './zip-archive.ts'

const MAX_PART_BYTES = 64 * 1024 * 1024
/** The characters scanned at once. The cells in them may refer to much text. */
const STEP = 1024

export type Workbook = {
  /** The archive part of the chosen worksheet. */
  worksheet: string
  /** The names of all worksheets that are not hidden. */
  names: string[]
  sharedStrings: string | undefined
  is1904: boolean
  /** The kinds of numbers, by the style of the cell. */
  styles: NumberKind[]
}

/** Reports the XML of a part while it is unpacked, and yields after each block. */
export async function* scanPart(
  zip: ZipArchive,
  part: string,
  events: XmlEvents,
  limit = MAX_PART_BYTES,
): AsyncGenerator<void> {
  const decoder = createUtf8Decoder()
  const scanner = createXmlScanner(events)
  let atStart = true
  for await (const block of zip.read(part, limit)) {
    const text = decoder.decode(block)
    if (decoder.isBroken(false)) throw damaged(`${part} is not UTF-8`)
    const from = atStart && text.startsWith('\uFEFF') ? 1 : 0
    for (let at = from; at < text.length; at += STEP) {
      scanner.push(text.slice(at, at + STEP))
      await pause()
    }
    atStart = false
    yield
  }
  if (decoder.isBroken(true)) throw damaged(`${part} is not UTF-8`)
  scanner.end()
}

async function scanWhole(
  zip: ZipArchive,
  part: string,
  open: XmlEvents['open'],
  close = (_name: string) => {},
) {
  for await (const _block of scanPart(zip, part, { open, close }));
}

type Relation = { id: string; kind: string; target: string }

/** Reads the parts that a part refers to. Targets are paths in the archive. */
async function readRelations(zip: ZipArchive, part: string): Promise<Relation[]> {
  const folder = posix.dirname(part)
  const path = posix.join(folder, '_rels', `${posix.basename(part)}.rels`)
  const relations: Relation[] = []
  if (!zip.has(path)) return relations
  await scanWhole(zip, path, (name, attributes) => {
    const target = readAttribute(attributes, 'Target')
    if (
      name !== 'Relationship' ||
      target === undefined ||
      readAttribute(attributes, 'TargetMode') === 'External'
    )
      return
    relations.push({
      id: readAttribute(attributes, 'Id') ?? '',
      kind: posix.basename(readAttribute(attributes, 'Type') ?? ''),
      target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
    })
  })
  return relations
}

/** Finds the worksheet by name, or the first that is not hidden, and what is needed to read its cells. */
export async function openWorkbook(zip: ZipArchive, sheetName: string | null): Promise<Workbook> {
  const main = (await readRelations(zip, '')).find(({ kind }) => kind === 'officeDocument')?.target
  const part = main ?? 'xl/workbook.xml'
  if (!zip.has(part) || !part.endsWith('.xml')) {
    throw new FileFault(
      'The file is a zip archive, but not an XLSX workbook; save it as .xlsx and upload it again',
    )
  }
  const relations = await readRelations(zip, part)
  // The first of several relations with the same id counts, as everywhere.
  const sheetParts = new Map<string, string>()
  for (const { id, kind, target } of relations)
    if (kind === 'worksheet' && !sheetParts.has(id)) sheetParts.set(id, target)
  const worksheets: { name: string; hidden: boolean; part: string }[] = []
  let is1904 = false
  await scanWhole(zip, part, (name, attributes) => {
    if (name === 'workbookPr') is1904 = /^(1|true|on)$/.test(readAttribute(attributes, 'date1904') ?? '')
    if (name !== 'sheet') return
    const part = sheetParts.get(relationId(attributes) ?? '')
    if (part === undefined) return
    const hidden = /hidden/i.test(readAttribute(attributes, 'state') ?? '')
    worksheets.push({ name: readAttribute(attributes, 'name') ?? '', hidden, part })
  })
  const chosen =
    sheetName === null
      ? (worksheets.find((sheet) => !sheet.hidden) ?? worksheets[0])
      : worksheets.find((sheet) => sheet.name === sheetName)
  if (chosen === undefined)
    throw new FileFault(
      noWorksheet(
        sheetName,
        worksheets.map((sheet) => sheet.name),
      ),
    )
  const targetOf = (kind: string) => relations.find((one) => one.kind === kind && zip.has(one.target))?.target
  const styles = targetOf('styles')
  return {
    worksheet: chosen.part,
    names: worksheets.flatMap(({ name, hidden }) => (hidden ? [] : [name])),
    sharedStrings: targetOf('sharedStrings'),
    is1904,
    styles: styles === undefined ? [] : await readStyles(zip, styles),
  }
}

/** Returns the attribute `r:id` with any prefix. `sheetId` is another attribute. */
const relationId = (attributes: string) => readAttribute(attributes.replace(/\bsheetId\b/, ''), 'id')

function noWorksheet(sheetName: string | null, names: string[]): string {
  if (sheetName === null) return 'The workbook has no worksheet'
  return `The workbook has no worksheet ${quote(sheetName)}; its worksheets are ${listNames(names)}`
}

async function readStyles(zip: ZipArchive, part: string): Promise<NumberKind[]> {
  const formats = new Map<number, NumberKind>()
  const styles: NumberKind[] = []
  let inCells = false
  await scanWhole(
    zip,
    part,
    (name, attributes) => {
      const id = Number(readAttribute(attributes, 'numFmtId') ?? 0)
      if (name === 'cellXfs') inCells = true
      else if (name === 'numFmt') formats.set(id, kindOfFormat(readAttribute(attributes, 'formatCode') ?? ''))
      else if (name === 'xf' && inCells) styles.push(formats.get(id) ?? kindOfBuiltIn(id))
    },
    (name) => {
      if (name === 'cellXfs') inCells = false
    },
  )
  return styles
}
