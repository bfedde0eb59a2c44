import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '#test/plumbing/at-end.ts'
import { readXlsx } from '../reading/xlsx-records.ts'
import { collect, type Read } from './collect.ts'
import { makeWorkbook, type TestWorkbook, textRow } from './workbook.ts'

export const AB = ['a', 'b']
export const HEAD = textRow(1, 'a', 'b')
export const row = (number: number, cells: string) => `<row r="${number}">${cells}</row>`
/** A sheet with the headers a and b and one row. */
export const one = (cells: string, more: TestWorkbook = {}): TestWorkbook => ({
  rows: HEAD + row(2, cells),
  ...more,
})
export const number = (value: string, style = 0) => `<c r="A2" s="${style}"><v>${value}</v></c>`
export const bytesOf = (book: TestWorkbook | Buffer) => (Buffer.isBuffer(book) ? book : makeWorkbook(book))

/** Opens a folder for the workbooks of a test file, with a function that reads one. */
export function openXlsxFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'loam-xlsx-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  async function read(
    content: Buffer | Uint8Array,
    headers = AB,
    sheetName: string | null = null,
  ): Promise<Read> {
    const path = join(folder, 'book.xlsx')
    writeFileSync(path, content)
    const file = await open(path)
    try {
      return await collect(readXlsx({ file, sheetName, spoolFolder: folder }, headers, null))
    } finally {
      await file.close()
    }
  }
  return { folder, read }
}
