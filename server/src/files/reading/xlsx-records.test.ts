import { readdirSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { writeXlsx } from 'hucre'
import { describe, expect, it } from 'vitest'
import { collectResumed, type Read } from '../testing/collect.ts'
import { makeWorkbook, type TestWorkbook, textRow } from '../testing/workbook.ts'
import { AB, HEAD, bytesOf, number, one, openXlsxFolder, row } from '../testing/xlsx-reading.ts'
import { readXlsx } from './xlsx-records.ts'

const { folder, read } = openXlsxFolder()

type Case = [what: string, book: TestWorkbook | Buffer, rows: (string | null)[][]]

const READABLE: Case[] = [
  ['inline texts', { rows: HEAD + textRow(2, '1', 'x') }, [['1', 'x']]],
  [
    'shared texts',
    one('<c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>0</v></c>', {
      strings: '<si><t>x</t></si><si><t>y</t></si>',
    }),
    [['y', 'x']],
  ],
  [
    'rich text is joined, reading aids are not text',
    one('<c r="A2" t="s"><v>0</v></c>', {
      strings:
        '<si><r><rPr><b/></rPr><t>Ac</t></r><r><t xml:space="preserve">me </t></r><rPh sb="0" eb="1"><t>aku</t></rPh></si>',
    }),
    [['Acme ', null]],
  ],
  [
    'rich inline text',
    one('<c r="A2" t="inlineStr"><is><r><t>Ac</t></r><r><t>me</t></r></is></c>'),
    [['Acme', null]],
  ],
  [
    'entities and escapes',
    one(
      '<c r="A2" t="inlineStr"><is><t>&lt;&amp;&gt;&quot;&apos;&#252;&#x1F600;</t></is></c><c r="B2" t="inlineStr"><is><t>1_x000D_2_x005F_x0041_</t></is></c>',
    ),
    [['<&>"\'ü😀', '1\r2_x0041_']],
  ],
  [
    'CDATA, comments and instructions',
    { rows: `${HEAD}<!-- <row> --><?x <row>?>${textRow(2, '<![CDATA[<1 & 2>]]>', 'x')}` },
    [['<1 & 2>', 'x']],
  ],
  ['numbers without the noise of binary fractions', one(number('0.30000000000000004')), [['0.3', null]]],
  ['whole numbers of 15 digits', one(number('123456789012345')), [['123456789012345', null]]],
  [
    'numbers with an exponent, written out',
    one(number('1.5E+3') + '<c r="B2"><v>1.0000000000000001E-7</v></c>'),
    [['1500', '0.0000001']],
  ],
  ['negative numbers and zero', one(number('-12.50') + '<c r="B2"><v>0</v></c>'), [['-12.5', '0']]],
  ['booleans', one('<c r="A2" t="b"><v>1</v></c><c r="B2" t="b"><v>0</v></c>'), [['TRUE', 'FALSE']]],
  ['errors as their text', one('<c r="A2" t="e"><v>#N/A</v></c>'), [['#N/A', null]]],
  [
    'formulas by what they last gave',
    one('<c r="A2"><f>1+1</f><v>2</v></c><c r="B2" t="str"><f>"x"&amp;"y"</f><v>xy</v></c>'),
    [['2', 'xy']],
  ],
  [
    'a formula that was never computed is empty',
    one('<c r="A2"><f>NOW()</f></c><c r="B2"><v>1</v></c>'),
    [[null, '1']],
  ],
  ['dates', one(number('45322', 1), { formats: ['yyyy\\-mm\\-dd'] }), [['2024-01-31', null]]],
  [
    'dates as shown: without a time that the format hides',
    one(number('45322.99999', 1), { formats: ['d. mmmm yyyy'] }),
    [['2024-01-31', null]],
  ],
  [
    'dates with a time',
    one(number('45322.75', 1), { formats: ['dd/mm/yyyy hh:mm'] }),
    [['2024-01-31T18:00:00', null]],
  ],
  ['times to the second', one(number('0.5208333333', 1), { formats: ['h:mm AM/PM'] }), [['12:30:00', null]]],
  [
    'times to the millisecond where they are shown',
    one(number('0.500001', 1), { formats: ['hh:mm:ss.000'] }),
    [['12:00:00.086', null]],
  ],
  ['durations beyond a day', one(number('1.5', 1), { formats: ['[h]:mm:ss'] }), [['36:00:00', null]]],
  [
    'built-in date formats',
    one(number('45322', 1) + '<c r="B2" s="2"><v>45322.25</v></c>', { builtIn: [14, 22] }),
    [['2024-01-31', '2024-01-31T06:00:00']],
  ],
  [
    'built-in formats of numbers',
    one(number('45322', 1) + '<c r="B2" s="2"><v>0.5</v></c>', { builtIn: [4, 9] }),
    [['45322', '0.5']],
  ],
  [
    'formats that only look like dates',
    one(number('5', 1) + '<c r="B2" s="2"><v>6</v></c>', { formats: ['0 "days"', '[Red]0.00'] }),
    [['5', '6']],
  ],
  ['leading zeros that the format shows', one(number('2134', 1), { formats: ['00000'] }), [['02134', null]]],
  [
    'days from 1904',
    one(number('43860', 1), { formats: ['yyyy-mm-dd'], date1904: true }),
    [['2024-01-31', null]],
  ],
  [
    'days around the one that never was',
    one(number('59', 1) + '<c r="B2" s="1"><v>61</v></c>', { formats: ['yyyy-mm-dd'] }),
    [['1900-02-28', '1900-03-01']],
  ],
  ['dates written as ISO 8601', one('<c r="A2" t="d"><v>2024-01-31</v></c>'), [['2024-01-31', null]]],
  ['a negative day is its number', one(number('-1', 1), { formats: ['yyyy-mm-dd'] }), [['-1', null]]],
  [
    'cells without a reference follow each other',
    {
      rows: '<row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row><row><c><v>1</v></c><c><v>2</v></c></row>',
    },
    [['1', '2']],
  ],
  [
    'cells in any order, with gaps',
    {
      rows: `${row(1, '<c r="C1" t="inlineStr"><is><t>b</t></is></c><c r="A1" t="inlineStr"><is><t>a</t></is></c>')}${row(7, '<c r="C7"><v>2</v></c><c r="A7"><v>1</v></c>')}`,
    },
    [['1', '2']],
  ],
  [
    'rows of empty cells are skipped',
    {
      rows: `${HEAD}<row r="2"/>${row(3, '<c r="A3"/><c r="B3" t="s"></c>')}${textRow(4, '1', '2')}<row r="5"/>`,
    },
    [['1', '2']],
  ],
  [
    'columns beyond Z',
    {
      rows:
        row(
          1,
          '<c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="AB1" t="inlineStr"><is><t>b</t></is></c>',
        ) + row(2, '<c r="A2"><v>1</v></c><c r="AB2"><v>2</v></c>'),
    },
    [['1', '2']],
  ],
  [
    'names with a prefix',
    {
      parts: [
        {
          name: 'xl/worksheets/sheet1.xml',
          content:
            '<x:worksheet xmlns:x="u"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c><x:c t="inlineStr"><x:is><x:t>b</x:t></x:is></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>',
        },
      ],
    },
    [['1', null]],
  ],
  [
    'attributes in single quotes, with > in them',
    { rows: `${HEAD}<row r='2' note='a > b'><c r='A2' t='inlineStr'><is><t>1</t></is></c></row>` },
    [['1', null]],
  ],
  [
    'a byte order mark in its XML',
    {
      parts: [
        {
          name: 'xl/worksheets/sheet1.xml',
          content: `\uFEFF<worksheet><sheetData>${HEAD}${textRow(2, '1', '2')}</sheetData></worksheet>`,
        },
      ],
    },
    [['1', '2']],
  ],
  ['only a header', { rows: HEAD }, []],
  [
    'parts that are stored, not packed',
    {
      parts: [
        {
          name: 'xl/worksheets/sheet1.xml',
          stored: true,
          content: `<worksheet><sheetData>${HEAD}${textRow(2, '1', '2')}</sheetData></worksheet>`,
        },
      ],
    },
    [['1', '2']],
  ],
  ['zip64', makeWorkbook({ rows: HEAD + textRow(2, '1', '2') }, { zip64: true }), [['1', '2']]],
  [
    'an archive with a comment',
    makeWorkbook({ rows: HEAD + textRow(2, '1', '2') }, { comment: 'made by hand' }),
    [['1', '2']],
  ],
  [
    'the first worksheet that is not hidden',
    { rows: HEAD, firstState: 'veryHidden', others: { Seen: HEAD + textRow(2, '1', '2') } },
    [['1', '2']],
  ],
  [
    'what stands behind the cells is not read',
    {
      parts: [
        {
          name: 'xl/worksheets/sheet1.xml',
          content: `<worksheet><cols/><sheetData>${HEAD}</sheetData><extLst><row><c><v>1</v></c></row></extLst></worksheet>`,
        },
      ],
    },
    [],
  ],
]

describe('a worksheet is read as people see it', () => {
  it.each(READABLE)('%s', async (_what, book, rows) => {
    expect(await read(bytesOf(book))).toEqual({ rows })
  })

  it('what another program wrote', async () => {
    const content = await writeXlsx({
      sheets: [
        {
          name: 'People',
          columns: [{}, { numFmt: 'yyyy-mm-dd' }],
          rows: [
            ['a', 'b'],
            ['Zoë & <co>', new Date('2024-02-29T00:00:00Z')],
            [0.1 + 0.2, null],
            [true, new Date('1999-12-31T00:00:00Z')],
          ],
        },
      ],
    })
    const rows = [
      ['Zoë & <co>', '2024-02-29'],
      ['0.3', null],
      ['TRUE', '1999-12-31'],
    ]
    expect(await read(content)).toEqual({ rows })
  })

  it('by the name of the worksheet, hidden ones included', async () => {
    const book = makeWorkbook({
      rows: HEAD,
      firstState: 'hidden',
      others: { 'Q1 &amp; Q2': HEAD + textRow(2, '1', '2'), data: HEAD },
    })
    expect(await read(book, AB, 'Q1 & Q2')).toEqual({ rows: [['1', '2']] })
    expect(await read(book, AB, 'Data')).toEqual({ rows: [] })
    expect(await read(book, AB, 'Q3')).toEqual({
      fault: 'The workbook has no worksheet "Q3"; its worksheets are "Data", "Q1 & Q2", "data"',
    })
  })

  it('from any position on, with shared texts read in any order', async () => {
    const strings = Array.from({ length: 5000 }, (_, n) => `<si><t>text ${n} ${'.'.repeat(40)}</t></si>`)
    const rows = Array.from({ length: 4000 }, (_, n) =>
      row(n + 2, `<c r="A${n + 2}" t="s"><v>${(n * 1999) % 5000}</v></c><c r="B${n + 2}"><v>${n}</v></c>`),
    )
    const path = join(folder, 'resumed.xlsx')
    writeFileSync(path, makeWorkbook({ rows: HEAD + rows.join(''), strings: strings.join('') }))
    const file = await open(path)
    const resumed = await collectResumed((from) =>
      readXlsx({ file, sheetName: null, spoolFolder: folder }, AB, from),
    )
    await file.close()
    const expected: Read = {
      rows: rows.map((_, n) => [`text ${(n * 1999) % 5000} ${'.'.repeat(40)}`, String(n)]),
    }
    expect(resumed.length).toBeGreaterThan(2)
    expect(resumed).toEqual(resumed.map(() => expected))
  })

  it('and nothing is left behind', () => {
    expect(readdirSync(folder).sort()).toEqual(['book.xlsx', 'resumed.xlsx'])
  })
})
