import { expect, it } from 'vitest'
import { type Cell, copiedText } from '../../dashboard/src/screens/sheet/copied-text.ts'
import { parseTsv, printDefused, printTsv } from '../../dashboard/src/screens/sheet/tsv.ts'
import { csvLine } from '../../dashboard/src/ui/csv-line.ts'

it.each([
  ['=1+1', "'=1+1"],
  ['a;=1+1', '"a;\'=1+1"'],
  ['a\t@SUM(A1)', '"a\t\'@SUM(A1)"'],
  ['a\n=1', '"a\n\'=1"'],
  ['a;"=1+1;b', '"a;""\'=1+1;b"'],
  ['a,b', '"a,b"'],
  ['-3.5', '-3.5'],
  ['+41 44 123', '+41 44 123'],
])('copied from the grid %j is %j for spreadsheets (F72)', (text, copied) => {
  expect(printDefused([[text, 'x']])).toBe(`${copied}\tx`)
})

it('cells that are pasted into Loam again are what they were', () => {
  const lines = [
    ['=1+1', 'a;b', 'say "hi"'],
    ['a\t=1', 'two\nlines', ''],
  ]
  expect(parseTsv(printTsv(lines))).toEqual(lines)
})

it('a copied cell is the whole output, also where the grid shows the beginning of it', () => {
  const cell = (outputs: object, rest = {}) => ({ status: 'complete', outputs, ...rest })
  const column = { kind: 'action', key: 'a_1', outputs: ['text'] } as const
  const copied = (shown: object) => copiedText({ inputs: {}, cells: { a_1: shown as Cell } }, column)
  const long = 'x'.repeat(5000)
  expect(copied(cell({ text: long }))).toBe(long)
  expect(copied(cell({ text: 'No result' }))).toBe('No result')
  expect(copied(cell({ text: '' }))).toBe('')
  expect(copied(cell({}, { outputs_ref: { url: 'https://example.com', size_bytes: 40_000 } }))).toBe('')
  expect(copied({ status: 'failed', error: 'broken' })).toBe('')
})

it('a downloaded line has no formula and leaves numbers alone (D42)', () => {
  expect(csvLine(['=1+1', '-3', '+1 555 010', 'a;=2', 7])).toBe(`'=1+1,-3,+1 555 010,"a;'=2",7`)
})
