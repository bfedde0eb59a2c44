import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_VALUE_BYTES } from '#contract/rows.ts'
import { MAX_RECORD_BYTES } from '../../lib/csv/file-fault.ts'
import { collect, collectResumed, type Read } from '../testing/collect.ts'
import { readCsv } from './csv-records.ts'

const AB = ['a', 'b']
const BOM = '\uFEFF'
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const long = 'x'.repeat(300_000)
/** The longest value of a letter. The quotes of JSON count too. */
const mostOf = (letter: string) => letter.repeat((MAX_VALUE_BYTES - 2) / Buffer.byteLength(letter))

/** Returns the content in blocks of a size, as a storage does. */
const opened = (content: string | Buffer, size: number) => async (start: number) => {
  const bytes = Buffer.from(content)
  return (async function* () {
    for (let at = start; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  })()
}

const read = (content: string | Buffer, headers: string[], size = 65_536) =>
  collect(readCsv(opened(content, size), headers, null))

type Case = [what: string, content: string | Buffer, rows: (string | null)[][], headers?: string[]]

const READABLE: Case[] = [
  [
    'plain rows',
    'a,b\n1,2\n3,4\n',
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['no line break at the end', 'a,b\n1,2', [['1', '2']]],
  ['CRLF', 'a,b\r\n1,2\r\n', [['1', '2']]],
  [
    'CR alone',
    'a,b\r1,2\r3,4\r',
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  [
    'all line breaks in one file',
    'a,b\n1,2\r\n3,4\r5,6',
    [
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ],
  ],
  ['a byte order mark', `${BOM}a,b\n1,2\n`, [['1', '2']]],
  ['a byte order mark before a quoted header', `${BOM}"a","b"\n1,2\n`, [['1', '2']]],
  ['quoted fields', '"a","b"\n"1","2"\n', [['1', '2']]],
  ['a delimiter inside quotes', 'a,b\n"1,5",2\n', [['1,5', '2']]],
  ['doubled quotes', 'a,b\n"say ""hi""",2\n', [['say "hi"', '2']]],
  ['a field of quotes only', 'a,b\n"""",""""""\n', [['"', '""']]],
  ['line breaks inside quotes', 'a,b\n"1\n2\r\n3\r4",5\n', [['1\n2\r\n3\r4', '5']]],
  ['a quoted header with a line break', '"a\nb",c\n1,2\n', [['1', '2']], ['a\nb', 'c']],
  ['quotes inside a bare field', 'a,b\n5" pipe,6"\n', [['5" pipe', '6"']]],
  ['text behind a closing quote', 'a,b\n"1"x,"2" \n', [['1x', '2 ']]],
  ['a space before a quote makes it text', 'a,b\n1, "2"\n', [['1', ' "2"']]],
  ['spaces are kept', 'a,b\n 1 ,\t2\n', [[' 1 ', '\t2']]],
  [
    'empty cells are null',
    'a,b\n,2\n1,\n',
    [
      [null, '2'],
      ['1', null],
    ],
  ],
  ['quoted empty cells are null', 'a,b\n"",2\n', [[null, '2']]],
  ['short rows miss their last cells', 'a,b\n1\n', [['1', null]]],
  ['cells beyond the header are not mapped, so not imported', 'a,b\n1,2,3,4\n', [['1', '2']]],
  [
    'blank lines are skipped',
    '\n\na,b\n\n1,2\n\r\n\n3,4\n\n',
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['rows of nothing but delimiters are skipped', 'a,b\n,\n1,2\n,,,\n"",""\n', [['1', '2']]],
  ['a row whose mapped cells are empty is a row', 'a,b,c\n,,x\n', [[null, null]]],
  ['only a header', 'a,b\n', []],
  ['only a header, without a line break', 'a,b', []],
  ['semicolons', 'a;b\n1,5;2\n', [['1,5', '2']]],
  ['tabs', 'a\tb\n1;x\t2,y\n', [['1;x', '2,y']]],
  ['a delimiter inside a quoted header does not count', '"x;y;z",a,b\n0,1,2\n', [['1', '2']]],
  ['as many commas as semicolons: the mapped headers decide', 'a;b,c\n1;2,3\n', [['1', '2,3']], ['a', 'b,c']],
  ['one column needs no delimiter', 'a\n1,2\n3\n', [['1'], ['3']], ['a']],
  ['columns by name, not by place', 'x,b,y,a\n0,2,0,1\n', [['1', '2']]],
  ['a header twice that is not mapped', 'x,a,x,b\n0,1,0,2\n', [['1', '2']]],
  ['headers are exact', ' a,A,a,b\n1,2,3,4\n', [['3', '4']]],
  ['characters of one to four bytes', 'a,b\nß€,😀\n', [['ß€', '😀']]],
  ['a NUL is passed on', 'a,b\n1\0,2\n', [['1\0', '2']]],
  ['a byte order mark further on is text', `a,b\n${BOM}1,2\n`, [[`${BOM}1`, '2']]],
  [
    'numbers and dates stay their text',
    'a,b\n007,1e5\n2024-02-30,+49 30\n',
    [
      ['007', '1e5'],
      ['2024-02-30', '+49 30'],
    ],
  ],
  [
    'a field longer than any block',
    `a,b\n"${long}\n",2\n3,4\n`,
    [
      [`${long}\n`, '2'],
      ['3', '4'],
    ],
  ],
  ['a value of 1 MiB of JSON', `a,b\n1,${mostOf('x')}\n`, [['1', mostOf('x')]]],
  ['a longer value that is not mapped', `a,b,c\n1,2,${mostOf('x')}x\n`, [['1', '2']]],
  ['a header longer than any block', `${'x'.repeat(70_000)},a,b\n0,1,2\n`, [['1', '2']]],
  ['a vertical tab and other controls are text', 'a,b\n1\v,2\f\n', [['1\v', '2\f']]],
  ['line and paragraph separators are text', 'a,b\n1\u2028,2\u2029\n', [['1\u2028', '2\u2029']]],
  ['a delimiter at the end of the file is an empty cell', 'a,b\n1,', [['1', null]]],
  ['bars', 'a|b\n1;x|2,y\n', [['1;x', '2,y']]],
  ['the separator that the first line names', 'sep=;\na;b\n1,5;2\n', [['1,5', '2']]],
  ['the same behind a byte order mark', `${BOM}sep=,\r\na,b\r\n1;5,2\r\n`, [['1;5', '2']]],
  ['a separator of its own', 'SEP=^\na^b\n"1\n"^2\n', [['1\n', '2']]],
]

const REFUSED: [what: string, content: string | Buffer, fault: string | RegExp][] = [
  ['an empty file', '', 'Row 1 has no header "a", "b"; it is empty'],
  ['nothing but line breaks', '\n\r\n\n', 'Row 1 has no header "a", "b"; it is empty'],
  ['a byte order mark alone', BOM, 'Row 1 has no header "a", "b"; it is empty'],
  ['a header that is absent', 'a,c\n1,2\n', 'Row 1 has no header "b"; its headers are "a", "c"'],
  ['headers in another case', 'A,B\n1,2\n', 'Row 1 has no header "a", "b"; its headers are "A", "B"'],
  [
    'a mapped header twice',
    'a,b,a\n1,2,3\n',
    'The header "a" appears in columns 1 and 3; a mapped header must be unique',
  ],
  [
    'a quote that is never closed',
    'a,b\n1,2\n3,"4\n5,6\n',
    'The quote that opens a field in line 3 is never closed',
  ],
  [
    'one after a field with line breaks',
    'a,b\n"1\n2",3\n"4,5',
    'The quote that opens a field in line 4 is never closed',
  ],
  [
    'one behind a line break in its own row',
    'a,b\n"1\r\n2","3\n',
    'The quote that opens a field in line 3 is never closed',
  ],
  ['one in the header', 'a,"b\n1,2\n', 'The quote that opens a field in line 1 is never closed'],
  [
    'Latin-1',
    latin1('a,b\n1,2\nMünchen,3\n'),
    'Line 3 holds bytes that are not UTF-8; save the file as UTF-8 and put it again',
  ],
  [
    'Latin-1 in the header',
    latin1('a,b,ü\n'),
    'Line 1 holds bytes that are not UTF-8; save the file as UTF-8 and put it again',
  ],
  ['Latin-1 inside a quoted field', latin1('a,b\n"1\n\n\xfc",2\n'), /^Line 4 holds/],
  ['Latin-1 behind CR alone', latin1('a,b\r1,2\r3,\xfc\r'), /^Line 3 holds/],
  [
    'half a character at the end',
    Buffer.concat([Buffer.from('a,b\n1,'), Buffer.from('€').subarray(0, 2)]),
    /^Line 2 holds/,
  ],
  ['half a surrogate pair', Buffer.from([97, 44, 98, 10, 0xed, 0xa0, 0x80]), /^Line 2 holds/],
  [
    'UTF-16, little end first',
    Buffer.from(`${BOM}a,b\n`, 'utf16le'),
    /^Line 1: the file is encoded as UTF-16, not UTF-8/,
  ],
  [
    'UTF-16, big end first',
    Buffer.from(`${BOM}a,b\n`, 'utf16le').swap16(),
    /^Line 1: the file is encoded as UTF-16, not UTF-8/,
  ],
  [
    'UTF-16 without its mark',
    Buffer.from('a,b\n', 'utf16le'),
    /^Line 1: the file is encoded as UTF-16, not UTF-8/,
  ],
  [
    'UTF-32',
    Buffer.from([0xff, 0xfe, 0, 0, 97, 0, 0, 0]),
    /^Line 1: the file is encoded as UTF-32, not UTF-8/,
  ],
  [
    'an old workbook',
    Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    /^The file is an old Excel workbook \(\.xls\) or one with a password, not CSV; save it as \.xlsx/,
  ],
  [
    'a quote that is never closed behind the line of the separator',
    'sep=;\na;b\n1;"2\n',
    'The quote that opens a field in line 3 is never closed',
  ],
  ['a workbook', Buffer.from('PK\u0003\u0004...'), /^The file is a zip archive or XLSX workbook, not CSV/],
  [
    'a value of more than 1 MiB of JSON',
    `a,b\n"1\n",2\n3,${mostOf('x')}x\n4,5\n`,
    'The value of "b" in line 4 is longer than 1 MB',
  ],
  [
    'a value whose characters take more than 1 MiB',
    `a,b\n1,${mostOf('€')}€\n`,
    'The value of "b" in line 2 is longer than 1 MB',
  ],
  [
    'values of more than 2 MiB together',
    `a,b,c\n${mostOf('x')},${mostOf('x')},12345\n6,7,8\n`,
    'The record that starts in line 2 is longer than 2 MB',
  ],
  [
    'an endless record',
    `a,b\n1,2\n${'x'.repeat(MAX_RECORD_BYTES + 1)}`,
    'The record that starts in line 3 is longer than 2 MB',
  ],
  [
    'a quote that is not closed for long',
    `a,b\n1,"2\n${'3,4\n'.repeat(MAX_RECORD_BYTES / 4)}`,
    'The record that starts in line 2 is longer than 2 MB; is a quote in it not closed?',
  ],
]

describe('a CSV file is read', () => {
  it.each(READABLE)('%s', async (_what, content, rows, headers = AB) => {
    const expected: Read = { rows }
    expect(await read(content, headers)).toEqual(expected)
    for (const size of Buffer.byteLength(content) > 1000 ? [4093] : [1, 2, 3, 5, 7]) {
      expect(await read(content, headers, size)).toEqual(expected)
      const resumed = await collectResumed((from) => readCsv(opened(content, size), headers, from))
      expect(resumed).toEqual(resumed.map(() => expected))
    }
  })

  it('whatever csv-stringify writes', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'ü', '😀', ' ', '"', ',', ';', '\t', '\n', '\r', '\r\n'),
    })
    const table = fc.array(fc.tuple(cell, cell, fc.constant('.')), { maxLength: 20 })
    const options = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t'),
      record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
      quoted: fc.boolean(),
      bom: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(table, options, fc.integer({ min: 1, max: 40 }), async (rows, how, size) => {
        // csv-stringify leaves a bare CR unquoted unless it is the row delimiter.
        const quoted = how.quoted || rows.some((row) => row.some((text) => /[\r\n]/.test(text)))
        const content = stringify([['a', 'b', 'end'], ...rows], { ...how, quoted })
        const expected = rows.map((row) => row.map((text) => text || null))
        expect(await read(content, ['a', 'b', 'end'], size)).toEqual({ rows: expected })
      }),
      { numRuns: 300 },
    )
  })
})

describe('a CSV file is refused with a message that says where', () => {
  it.each(REFUSED)('%s', async (_what, content, fault) => {
    const expected = { fault: typeof fault === 'string' ? fault : expect.stringMatching(fault) }
    expect(await read(content, AB)).toEqual(expected)
    if (Buffer.byteLength(content) < 1000) {
      for (const size of [2, 3, 5, 7]) expect(await read(content, AB, size)).toEqual(expected)
    }
  })

  it('a long list of headers is cut', async () => {
    const header = Array.from({ length: 30 }, (_, n) => `h${n}`).join(',')
    expect(await read(`${header}\n`, ['a'])).toEqual({ fault: expect.stringMatching(/"h19" and 10 more$/) })
  })
})
