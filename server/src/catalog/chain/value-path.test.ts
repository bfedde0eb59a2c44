import { expect, it } from 'vitest'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { parseTemplate, soleToken } from './references.ts'
import { findInputPath, pathOf, readOutput, readPath } from './value-path.ts'

function outputToken(text: string) {
  const token = soleToken(parseTemplate(`{{x_1.${text}}}`))
  if (token === null || !('action' in token)) throw new Error(`${text} is no token of an output`)
  return token
}
const readIn = (json: string, text: string): unknown => {
  const token = outputToken(text)
  expect(pathOf(token).head).toBe('out')
  return readOutput(parseLossless(json), token)
}

it.each([
  ['out', 'out', []],
  ['out.key', 'out', ['key']],
  ['out[0].key', 'out', [0, 'key']],
  ['out[0][12]', 'out', [0, 12]],
  ['out . a b [ 3 ] . c', 'out', ['a b', 3, 'c']],
  ['out.a.b.c', 'out', ['a', 'b', 'c']],
  ['out.0', 'out', ['0']],
  // A text that is no path is a name.
  ['out[x]', 'out[x]', []],
  ['out[-1]', 'out[-1]', []],
  ['out[0', 'out[0', []],
  ['out[0]x', 'out[0]x', []],
  ['out.a..b', 'out', ['a..b']],
])('D75: {{x_1.%s}} leads into %s by %j', (text, head, steps) => {
  expect(pathOf(outputToken(text))).toEqual({ head, steps })
})

it.each([
  ['{"a": {"b": [1, {"c": true}]}}', 'out.a.b[1].c', true],
  ['{"a": 1}', 'out.b', undefined],
  ['{"a": 1}', 'out.a.b', undefined],
  ['{"a": 1}', 'out[0]', undefined],
  ['[1, 2]', 'out[1]', 2],
  ['[1, 2]', 'out[2]', undefined],
  ['[{"a": {"b": 1}}, {}, 3]', 'out.a', [{ b: 1 }, null, null]],
  ['[{"a": {"b": 1}}, {}, 3]', 'out.a.b', [1, null, null]],
  ['[{"a": 1}, {"a": 2}]', 'out.a[1]', 2],
  ['null', 'out.a', undefined],
  ['"text"', 'out.length', undefined],
  // A text that is JSON is opened, a text inside it is not.
  [String.raw`"{\"a\": [5]}"`, 'out.a[0]', 5],
  [String.raw`{"a": "{\"b\": 1}"}`, 'out.a.b', undefined],
  ['"{broken"', 'out.a', undefined],
])('D75: of %s, {{x_1.%s}} is %j', (json, text, expected) => {
  expect(readIn(json, text)).toEqual(expected)
})

it.each(['__proto__', 'constructor', 'toString', 'length', '__proto__.polluted', 'constructor.name'])(
  'D75: %s is a key only where a value has it itself',
  (key) => {
    expect(readIn('{"a": 1}', `out.${key}`)).toBeUndefined()
    expect(readIn('[[1]]', `out[0].${key}`)).toEqual([null])
  },
)

it('D75: an own key named __proto__ is read', () => {
  expect(readIn('{"__proto__": {"a": 1}}', 'out.__proto__.a')).toBe(1)
})

it('a number that is stored as text has no keys', () => {
  expect(readIn('{"n": 12345678901234567890}', 'out.n.source')).toBeUndefined()
  expect(readIn('[12345678901234567890]', 'out.source')).toEqual([null])
})

it('a column whose name contains dots or brackets takes precedence over a path', () => {
  expect(readIn('[{"a.b": 1, "a": {"b": 2}}, {"a": {"b": 3}}]', 'out.a.b')).toEqual([1, null])
  expect(readIn('[{"a[0]": 1}]', 'out.a[0]')).toEqual([1])
  expect(readIn('{"a.b": 1, "a": {"b": 2}}', 'out.a.b')).toBe(1)
})

it.each([
  [['company'], 'company.name', { head: 'company', steps: ['name'] }],
  [['company'], 'company[0].name', { head: 'company', steps: [0, 'name'] }],
  [['company', 'company.name'], 'company.name', { head: 'company.name', steps: [] }],
  [['company', 'company.name'], 'company.name.first', { head: 'company.name', steps: ['first'] }],
  [['list[0]', 'list'], 'list[0]', { head: 'list[0]', steps: [] }],
  [['Acme Inc.'], 'Acme Inc..city', { head: 'Acme Inc.', steps: ['city'] }],
  [['company'], 'company.', null],
  [['company'], 'company[x]', null],
  [['company'], 'companies.name', null],
])('D75: among the inputs %j, {{input.%s}} is %j', (names, text, expected) => {
  expect(findInputPath(text, (name) => names.includes(name))).toEqual(expected)
})

it('D75: paths of any length are read in linear time', () => {
  let asked = 0
  const text = '.'.repeat(200_000)
  expect(findInputPath(text, () => (asked++, false))).toBeNull()
  expect(asked).toBeLessThan(1000)
  expect(pathOf(outputToken(`out${'[0]'.repeat(100_000)}`)).steps).toEqual([])
})

it('D75: a text of only brackets is no JSON', () => {
  expect(readPath('['.repeat(500_000), [0])).toBeUndefined()
  expect(readPath(`${'['.repeat(200)}${']'.repeat(200)}`, [0])).toBeUndefined()
})
