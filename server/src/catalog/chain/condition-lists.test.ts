import { describe, expect, it } from 'vitest'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { evaluate } from './condition-evaluate.ts'

const has = (list: unknown, wanted: string, times = 1): boolean =>
  evaluate(
    [
      {
        conditions: Array.from({ length: times }, () => ({
          variable: 'list',
          operator: 'contains' as const,
          values: [wanted],
        })),
      },
    ],
    (text) => (text === 'list' ? list : text),
  )

// The first condition on a list is decided without an index, the second one with it.
describe.each([1, 2])('D96: contains on a list, %i times', (times) => {
  it.each([
    [[1, 'Acme'], '1.0'],
    [['1.50'], '1.5'],
    [[{ a: 'ACME' }], 'acme'],
    [[0], '-0'],
    [['0.0'], '0'],
    [[true], 'TRUE'],
    [[null], ''],
    [[1e21], '1000000000000000000000'],
    [['007'], '7'],
    [['-12'], '-12.0'],
    [['12345678901234567000'], '1.2345678901234567E19'],
    [['100000'], '1e5'],
  ])('%j has %j', (list, wanted) => expect(has(list, wanted, times)).toBe(true))

  it.each([
    [[12], '1'],
    [['a b'], 'a'],
    [['1x'], '1'],
    [['12345678901234567001'], '12345678901234567000'],
    [[[1]], '1'],
    [[], ''],
  ])('%j has no %j', (list, wanted) => expect(has(list, wanted, times)).toBe(false))
})

const MANY = 300_000
const list = (item: (n: number) => string) =>
  parseLossless(`[${Array.from({ length: MANY }, (_, n) => item(n)).join()}]`)

describe('I6: conditions on an answer of 300,000 values hold the thread for less than 200 ms', () => {
  it.each([
    ['numbers', list(String)],
    ['objects', list((n) => (n % 3 === 0 ? `{"a":${n},"b":"x${n}","c":null}` : 'null'))],
    ['long numbers', list((n) => `${'1'.repeat(20)}${n}`)],
    ['long decimals', list((n) => `123456789123456789.${n}7`)],
    ['decimals near the wanted one', list((n) => `123456789123456789.5000${n}1`)],
    ['decimals with exponents', list((n) => `1.${n}23456789123456789e5`)],
    ['texts of decimals', list((n) => `"123456789123456789.${n}7"`)],
    ['many zeros', list((n) => `"-${'0'.repeat(12)}.${'0'.repeat(15)}${n}"`)],
    ['texts', list((n) => `"Acme ${n}"`)],
    ['lists', list((n) => (n % 3 === 0 ? `[${n}]` : '1'))],
  ])('%s', (_, values) => {
    for (const times of [1, 60]) {
      const held = [1, 2].map(() => {
        const before = process.threadCpuUsage()
        expect(has(values, '123456789123456789.5', times)).toBe(false)
        return process.threadCpuUsage(before).user / 1000
      })
      expect(Math.min(...held)).toBeLessThan(200)
    }
  })
})

it('many conditions on one list find each of their texts', () => {
  const values = ['Acme', { a: '1.50' }, parseLossless('12345678901234567890'), 7]
  const hasAll = (texts: string[]) => {
    const conditions = texts.map((text) => ({
      variable: 'list',
      operator: 'contains' as const,
      values: [text],
    }))
    return evaluate([{ conditions }], (text) => (text === 'list' ? values : text))
  }
  expect(hasAll(['acme', 'ACME', '1.5', '12345678901234567890', '7.0', '7'])).toBe(true)
  for (const absent of ['x', '8', '1.51', '12345678901234567891', '-7'])
    expect(hasAll(['acme', '7', absent])).toBe(false)
})
