import { expect, it } from 'vitest'
import { parseLossless } from './lossless-json.ts'
import { isObject } from './object.ts'

it.each([
  ['{}', true],
  ['{"a": 12345678901234567890}', true],
  ['[]', false],
  ['null', false],
  ['"text"', false],
  ['12', false],
  ['12345678901234567890', false],
])('%s as an object: %s', (text, expected) => {
  expect(isObject(parseLossless(text))).toBe(expected)
})
