import { expect, it } from 'vitest'
import { parseLossless } from '../lib/json/lossless-json.ts'
import { pickColumn } from './list-column.ts'

it.each([
  ['[{"a": 1}, {"a": null}, {"b": 2}]', 'a', [1, null, null]],
  ['[{"a": 1}, "a", ["a"], null]', 'a', [1, null, null, null]],
  ['[{}]', 'constructor', [null]],
  // A number that is kept as its text has no columns, although it is an object to the language.
  ['[12345678901234567890]', 'source', [null]],
  ['[]', 'a', []],
  ['{"a": [1]}', 'a', null],
  ['null', 'a', null],
])('of %s the column %s is %j', (list, column, expected) => {
  expect(pickColumn(parseLossless(list), column)).toEqual(expected)
})
