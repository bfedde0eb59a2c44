import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeWorkbook, textRow } from '../testing/workbook.ts'
import { previewFile } from './file-preview.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-preview-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const preview = (name: string, bytes: Uint8Array, sheetName: string | null = null) =>
  previewFile(name, async (start) => blocks(bytes.subarray(start)), { sheetName, spoolFolder: folder })

async function* blocks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

const csv = (text: string) => preview('a.csv', Buffer.from(text))

it('a CSV shows its headers and its first five records', async () => {
  const { headers, rows } = await csv(`name;site\n${'Ada;"a;b"\n'.repeat(3)}\nBo;\n${'Cy;c\n'.repeat(9)}`)
  expect(headers).toEqual(['name', 'site'])
  expect(rows).toEqual([...Array.from({ length: 3 }, () => ['Ada', 'a;b']), ['Bo', null], ['Cy', 'c']])
})

it('headers without a name, or with a repeated name, cannot be mapped and are not shown', async () => {
  const { headers, rows } = await csv('a,,b,b,c\n1,2,3,4,5\n')
  expect({ headers, rows }).toEqual({ headers: ['a', 'c'], rows: [['1', '5']] })
})

it.each([
  ['an empty file', ''],
  ['a header alone', 'a,b\n'],
])('%s has no records', async (_, text) => {
  expect((await csv(text)).rows).toEqual([])
})

it('long cells are cut', async () => {
  const { rows } = await csv(`a\n${'x'.repeat(100_000)}\n`)
  expect(rows[0]?.[0]).toHaveLength(200)
})

it('a workbook shows the chosen worksheet, and the names of all', async () => {
  const book = makeWorkbook({ rows: textRow(1, 'a', 'b') + textRow(2, '1', '2') })
  const { headers, rows, worksheets } = await preview('a.xlsx', book)
  expect({ headers, rows }).toEqual({ headers: ['a', 'b'], rows: [['1', '2']] })
  await expect(preview('a.xlsx', book, 'Nowhere')).rejects.toThrow(`no worksheet "Nowhere"`)
  await expect(preview('a.xlsx', book, worksheets[0])).resolves.toMatchObject({ headers: ['a', 'b'] })
})

it('the headers of a worksheet are those of its row 1, as for an import', async () => {
  const { headers, rows } = await preview('a.xlsx', makeWorkbook({ rows: textRow(3, 'a') + textRow(4, '1') }))
  expect({ headers, rows }).toEqual({ headers: [], rows: [] })
})

it('a file that is not a workbook is refused with that reason', async () => {
  await expect(preview('a.xlsx', Buffer.from('no zip'))).rejects.toThrow(/workbook|zip/i)
})
