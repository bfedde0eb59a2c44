import { expect, it } from 'vitest'
import { parseTsv, printDefused, printTsv } from '../../dashboard/src/screens/sheet/tsv.ts'

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
