import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAX_VALUE_BYTES } from '#contract/rows.ts'
import { makeWorkbook, type TestWorkbook, textRow } from '../testing/workbook.ts'
import { HEAD, bytesOf, one, openXlsxFolder, row } from '../testing/xlsx-reading.ts'
import { makeZip } from '../testing/zip-writer.ts'

const { folder, read } = openXlsxFolder()

const encrypted = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)])
const good = makeWorkbook({ rows: HEAD + textRow(2, '1', '2') })
const sheetOf = (content: string) => ({ parts: [{ name: 'xl/worksheets/sheet1.xml', content }] })
const zeros = Buffer.alloc(64 * 1024 * 1024, ' ')

const REFUSED: [what: string, book: TestWorkbook | Buffer, fault: string | RegExp][] = [
  ['an empty file', Buffer.alloc(0), /^The file is not an XLSX workbook \(no zip archive\)/],
  ['a CSV file', Buffer.from('a,b\n1,2\n3,4\n'), /^The file is not an XLSX workbook \(no zip archive\)/],
  ['a workbook with a password', encrypted, /^The workbook is protected with a password/],
  [
    'an archive whose parts have a password',
    { parts: [{ name: 'xl/workbook.xml', content: 'x', claims: { locked: true } }] },
    /^The workbook is protected with a password/,
  ],
  [
    'another kind of archive',
    makeZip([{ name: 'content.xml', content: '<x/>' }]),
    /^The file is a zip archive, but not an XLSX workbook/,
  ],
  [
    'a workbook that is cut off',
    good.subarray(0, good.length - 30),
    'The workbook is damaged: it is cut off',
  ],
  [
    'a part that is missing',
    { rows: HEAD, without: ['xl/worksheets/sheet1.xml'] },
    'The workbook is damaged: it has no part xl/worksheets/sheet1.xml',
  ],
  [
    'a part that lies elsewhere',
    { parts: [{ name: 'xl/styles.xml', content: '<x/>', claims: { offset: 7 } }] },
    /^The workbook is damaged: xl\/styles.xml is not at its declared offset/,
  ],
  [
    'a part out of bounds',
    { parts: [{ name: 'xl/styles.xml', content: '<x/>', claims: { offset: 10_000_000 } }] },
    /^The workbook is damaged: xl\/styles.xml is out of bounds/,
  ],
  [
    'a part packed in an unknown way',
    { parts: [{ name: 'xl/styles.xml', content: '<x/>', claims: { method: 12 } }] },
    /packed in an unknown way$/,
  ],
  [
    'a part that cannot be unpacked',
    { parts: [{ name: 'xl/styles.xml', stored: true, content: 'no deflate', claims: { method: 8 } }] },
    /^The workbook is damaged: xl\/styles.xml cannot be unpacked$/,
  ],
  [
    'a worksheet that blows up',
    { parts: [{ name: 'xl/worksheets/sheet1.xml', content: zeros }] },
    'The workbook was refused: its part xl/worksheets/sheet1.xml unpacks to 64 MB or more',
  ],
  [
    'one that says it does not',
    { parts: [{ name: 'xl/worksheets/sheet1.xml', content: zeros, claims: { size: 1000 } }] },
    /^The workbook was refused: its part xl\/worksheets\/sheet1.xml unpacks to/,
  ],
  [
    'shared texts that blow up',
    {
      ...one('<c r="A2" t="s"><v>0</v></c>', { strings: '' }),
      parts: [{ name: 'xl/sharedStrings.xml', content: zeros }],
    },
    /^The workbook was refused: its part xl\/sharedStrings.xml unpacks to 64 MB/,
  ],
  [
    'styles beyond any reason',
    { rows: HEAD, parts: [{ name: 'xl/styles.xml', content: '<x/>', claims: { size: 1e9 } }] },
    /^The workbook was refused: its part xl\/styles.xml unpacks to 954 MB/,
  ],
  [
    'a part shorter than it says',
    { rows: HEAD, parts: [{ name: 'xl/styles.xml', content: '<x/>', claims: { size: 5 } }] },
    'The workbook is damaged: xl/styles.xml is cut off',
  ],
  [
    'entities that multiply',
    sheetOf('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><worksheet><sheetData/></worksheet>'),
    'The workbook is damaged: its XML declares a document type',
  ],
  [
    'an entity from a file',
    { parts: [{ name: 'xl/workbook.xml', content: '<!DOCTYPE x SYSTEM "file:///etc/passwd"><workbook/>' }] },
    'The workbook is damaged: its XML declares a document type',
  ],
  [
    'an endless tag',
    sheetOf(`<worksheet ${'a="b" '.repeat(800_000)}`),
    'The workbook is damaged: its XML has an endless tag',
  ],
  [
    'XML that ends in the middle',
    sheetOf('<worksheet><sheetData><row'),
    'The workbook is damaged: its XML ends in the middle',
  ],
  [
    'an endless text',
    sheetOf(`<worksheet><sheetData>${HEAD}<row r="2"><c t="inlineStr"><is><t>${'ab'.repeat(5_000_000)}`),
    'Row 2 is longer than 2 MB',
  ],
  [
    'a row that repeats a long text',
    one('<c t="s"><v>0</v></c>'.repeat(9), { strings: `<si><t>${'x'.repeat(1_000_000)}</t></si>` }),
    'Row 2 is longer than 2 MB',
  ],
  [
    'rows that repeat a long text',
    {
      rows: HEAD + '<row><c t="s"><v>0</v></c></row>'.repeat(100),
      strings: `<si><t>${'x'.repeat(1_000_000)}</t></si>`,
    },
    'The worksheet was refused: its cells repeat too much text',
  ],
  [
    'a shared text beyond any reason',
    one('<c r="A2" t="s"><v>0</v></c>', { strings: `<si><t>${'x'.repeat(1_100_000)}</t></si>` }),
    'The workbook has a text that is longer than 1 MB',
  ],
  [
    'a shared text that is not there',
    one('<c r="A2" t="s"><v>7</v></c>', { strings: '<si><t>x</t></si>' }),
    'The workbook is damaged: a cell refers to the shared text 7, of which there are 1',
  ],
  [
    'a cell beyond the last column',
    one('<c r="XFE2"><v>1</v></c>'),
    'The workbook is damaged: row 2 has a cell beyond column XFD',
  ],
  [
    'a cell with no sensible reference',
    one('<c r="22"><v>1</v></c>'),
    'The workbook is damaged: a cell has the reference 22',
  ],
  [
    'XML that is not UTF-8',
    {
      parts: [
        { name: 'xl/worksheets/sheet1.xml', content: Buffer.from('<worksheet>\xfc</worksheet>', 'latin1') },
      ],
    },
    'The workbook is damaged: xl/worksheets/sheet1.xml is not UTF-8',
  ],
  [
    'no worksheet at all',
    { parts: [{ name: 'xl/workbook.xml', content: '<workbook/>' }] },
    'The workbook has no worksheet',
  ],
  ['an empty worksheet', { rows: '' }, 'Row 1 has no header "a", "b"; it is empty'],
  ['headers in row 3', { rows: textRow(3, 'a', 'b') }, 'Row 1 has no header "a", "b"; it is empty'],
  [
    'headers below empty cells',
    { rows: row(1, '<c r="A1" s="0"/>') + textRow(2, 'a', 'b') },
    'Row 1 has no header "a", "b"; it is empty',
  ],
  [
    'a value of more than 1 MiB of JSON',
    { rows: HEAD + textRow(2, '1', 'x'.repeat(MAX_VALUE_BYTES - 1)) },
    'The value of "b" in row 2 is longer than 1 MB',
  ],
  [
    'a header that is absent',
    { rows: textRow(1, 'a', 'c') },
    'Row 1 has no header "b"; its headers are "a", "c"',
  ],
  [
    'a mapped header twice',
    { rows: textRow(1, 'a', 'b', 'b') },
    'The header "b" appears in columns 2 and 3; a mapped header must be unique',
  ],
]

describe('a workbook is refused with a message that says why', () => {
  it.each(REFUSED)('%s', async (_what, book, fault) => {
    const expected = typeof fault === 'string' ? fault : expect.stringMatching(fault)
    expect(await read(bytesOf(book))).toEqual({ fault: expected })
  })

  it('and nothing is left behind', () => {
    expect(readdirSync(folder)).toEqual(['book.xlsx'])
  })
})
