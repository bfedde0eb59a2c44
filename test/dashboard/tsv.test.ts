import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Cell, copiedText } from '../../dashboard/src/screens/sheet/copied-text.ts'
import { parseTsv, printDefused, printTsv } from '../../dashboard/src/screens/sheet/tsv.ts'

it.each<[string, string, string[][]]>([
  ['nothing', '', []],
  ['one cell', 'a', [['a']]],
  [
    'cells and lines',
    'a\tb\nc\td',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['the line break at the end of a copied range', 'a\tb\n', [['a', 'b']]],
  ['line breaks of Windows and of old Macs', 'a\r\nb\rc', [['a'], ['b'], ['c']]],
  ['empty cells at every place', '\ta\t\t', [['', 'a', '', '']]],
  ['an empty line between others', 'a\n\nb', [['a'], [''], ['b']]],
  ['an empty line of two cells at the end', 'a\n\t', [['a'], ['', '']]],
  ['a quoted cell with tab, line break and quotes', '"a\tb\nc ""d"""\te', [['a\tb\nc "d"', 'e']]],
  ['a quoted empty cell', '""\ta', [['', 'a']]],
  ['a quote within a cell', '5" disk\ta', [['5" disk', 'a']]],
  ['text after a closing quote', '"a"b\tc', [['ab', 'c']]],
  ['a quote that is never closed', '"a\tb\nc', [['a\tb\nc']]],
  ['spaces, which are part of a cell', ' a \t b', [[' a ', ' b']]],
])('pasted text is read: %s', (_, text, lines) => {
  expect(parseTsv(text)).toEqual(lines)
})

it('every table is read back as it was printed', () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', '"', '\t', '\n', '\r', ' ', '=', "'", 'é', '😀', ';', ','),
  })
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
    )
  fc.assert(
    fc.property(table, (lines) => {
      // A last line of one empty cell is the line break at the end of a copied range.
      const last = lines.at(-1)
      fc.pre(!(last?.length === 1 && last[0] === ''))
      expect(parseTsv(printTsv(lines))).toEqual(lines)
    }),
  )
})

it('no part of a printed cell begins like a formula, wherever a spreadsheet splits it (F72)', () => {
  const cell = fc.string({ unit: fc.constantFrom('=', '@', ';', '\t', '\n', '\r', 'a', '1', '"', ' ') })
  fc.assert(
    fc.property(cell, (text) => {
      const printed = parseTsv(printDefused([[text, 'x']]))[0]?.[0] ?? ''
      expect(printed).not.toMatch(/^[=@\t\r\n]|[;\t\r\n][ "]*[=@]/)
    }),
  )
})

it('the largest copied range, of 10,000 rows, is read back', () => {
  const lines = Array.from({ length: 10_000 }, (_, row) =>
    Array.from({ length: 30 }, (_, column) =>
      column === 7 ? `"${row}"\n${column}` : `cell ${row} ${column}`,
    ),
  )
  const read = parseTsv(printTsv(lines))
  expect(read).toHaveLength(10_000)
  expect(read[9999]).toEqual(lines[9999])
  expect(read[5000]).toEqual(lines[5000])
})

it('the largest cell, of a megabyte, is read back', () => {
  const text = `${'a"\t\n'.repeat(250_000)}end`
  expect(parseTsv(printTsv([[text, 'next']]))).toEqual([[text, 'next']])
})

const row = (inputs: Record<string, unknown>, cells: Record<string, Cell> = {}) => ({ inputs, cells })
const action = { kind: 'action', key: 'a_1', outputs: ['first', 'second'] } as const

it.each<[string, unknown, string]>([
  ['a text', ' as it is ', ' as it is '],
  ['a number', 0, '0'],
  ['a boolean', false, 'false'],
  ['null', null, ''],
  ['a structure', { a: [1, 'b'] }, '{"a":[1,"b"]}'],
])('a copied input is %s', (_, value, text) => {
  expect(copiedText(row({ name: value }), { kind: 'input', name: 'name' })).toBe(text)
})

it('a missing input is copied as nothing', () => {
  expect(copiedText(row({}), { kind: 'input', name: 'name' })).toBe('')
})

it.each<[string, Record<string, unknown>, string]>([
  ['the first declared output', { second: 'b', first: 'a' }, 'a'],
  ['the next one if the first is blank', { first: '', second: 'b' }, 'b'],
  ['an output that is not declared, if no other is filled', { first: null, third: 'c' }, 'c'],
  ['a text rather than a boolean', { first: true, second: 'b' }, 'b'],
  ['a boolean if there is nothing else', { first: false, second: [] }, 'false'],
  ['nothing if all are blank', { first: '', second: [] }, ''],
])('a copied result is %s', (_, outputs, text) => {
  expect(copiedText(row({}, { a_1: { status: 'complete', outputs } }), action)).toBe(text)
})

it.each(['queued', 'running', 'failed', 'error', 'out_of_credits', 'condition_not_met'] as const)(
  'a cell that is %s is copied as nothing',
  (status) => {
    expect(copiedText(row({}, { a_1: { status, outputs: { first: 'old' }, error: 'why' } }), action)).toBe('')
  },
)

it('a cell that never ran is copied as nothing', () => {
  expect(copiedText(row({}), action)).toBe('')
})
