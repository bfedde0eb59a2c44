import { expect, it } from 'vitest'
import { writeCsv } from './write.ts'

it.each([
  ['=1+1', "'=1+1"],
  ['a;=1+1', '"a;\'=1+1"'],
  ['a;  @SUM(A1)', '"a;  \'@SUM(A1)"'],
  ['a\t+cmd', '"a\t\'+cmd"'],
  ['a;"=1+1;b', '"a;""\'=1+1;b"'],
  ['a,b', '"a,b"'],
  ['a\n=1', '"a\n\'=1"'],
  ['a;-12.5', '"a;-12.5"'],
  ['+49 30 123', '+49 30 123'],
  ['a;b', '"a;b"'],
  [-5, '-5'],
])('D42, F72: %j is written as %j', (value, written) => {
  expect(writeCsv(['name'], [{ name: value }])).toBe(`name\r\n${written}\r\n`)
})
