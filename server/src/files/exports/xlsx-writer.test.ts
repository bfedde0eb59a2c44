import { read } from 'hucre'
import { expect, it } from 'vitest'
import { writeWorkbook } from './xlsx-writer.ts'

async function* blocksOf(...blocks: unknown[][][]): AsyncGenerator<Buffer> {
  for (const rows of blocks) yield Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}

async function sheetsOf(headers: string[], blocks: AsyncIterable<Buffer>, rowsPerSheet?: number) {
  const parts: Uint8Array[] = []
  const columns = headers.map((header) => ({
    header,
    isNumber: header.startsWith('number'),
    as: (['date', 'boolean'] as const).find((type) => header.startsWith(type)),
  }))
  for await (const part of writeWorkbook(columns, blocks, rowsPerSheet)) parts.push(part)
  return (await read(Buffer.concat(parts))).sheets.map(({ name, rows }) => ({ name, rows }))
}

it('rows that do not fit on a worksheet continue on the next, under the same headers', async () => {
  const blocks = blocksOf([['a'], ['b']], [['c'], ['d'], ['e']])
  expect(await sheetsOf(['name'], blocks, 3)).toEqual([
    { name: 'Export', rows: [['name'], ['a'], ['b']] },
    { name: 'Export_2', rows: [['name'], ['c'], ['d']] },
    { name: 'Export_3', rows: [['name'], ['e']] },
  ])
})

it('H13: dates and truth values of typed inputs are such in a workbook, and other texts stay', async () => {
  const rows = [
    ['2026-03-01', 'TRUE', '2026-03-01'],
    ['2026-03-01T10:00:00Z', 'false', 'true'],
    ['1850-01-01', true, 'x'],
    ['2026-02-30', 'yes', null],
  ]
  const [sheet] = await sheetsOf(['date', 'boolean', 'text'], blocksOf(rows))
  expect(sheet?.rows.slice(1)).toEqual([
    [new Date('2026-03-01T00:00:00Z'), true, '2026-03-01'],
    ['2026-03-01T10:00:00Z', false, 'true'],
    ['1850-01-01', true, 'x'],
    ['2026-02-30', 'yes', null],
  ])
})

it('numbers that a spreadsheet would round stay texts', async () => {
  async function* blocks() {
    yield Buffer.from('[12345678901234567890,0.1,1e400,-7]\n')
  }
  expect((await sheetsOf(['a', 'b', 'c', 'd'], blocks()))[0]?.rows[1]).toEqual([
    '12345678901234567890',
    0.1,
    '1e400',
    -7,
  ])
})

it('D95: texts of a number column are numbers where every digit survives', async () => {
  const texts = ['42', '-3.50', '0.1', '123456789012345', '1234567890123456', '007', '1e5', '+5', '1.2.3', '']
  const [sheet] = await sheetsOf(['number', 'text'], blocksOf(texts.map((text) => [text, text])))
  expect(sheet?.rows.slice(1, 10).map(([first]) => first)).toEqual([
    42,
    -3.5,
    0.1,
    123456789012345,
    '1234567890123456',
    '007',
    '1e5',
    '+5',
    '1.2.3',
  ])
  expect(sheet?.rows.slice(1, 10).map(([, second]) => second)).toEqual(texts.slice(0, 9))
})

it('texts that look like codes of characters, or hold what XML cannot, stay as they are', async () => {
  const texts = ['_x0041_', '_x005F_', '__x000d_', 'a\u0007b', '\uFFFE', 'x'.repeat(32_767)]
  const [sheet] = await sheetsOf(texts.map(String).slice(0, 5).concat('f'), blocksOf([texts]))
  expect(sheet?.rows[1]).toEqual(['_x0041_', '_x005F_', '__x000d_', 'a\u0007b', '\uFFFD', 'x'.repeat(32_767)])
})

it('a header that is too long for a cell fails the export', async () => {
  await expect(sheetsOf(['x'.repeat(32_768)], blocksOf([['a']]))).rejects.toThrow(
    'The header of column 1 has 32768',
  )
})
