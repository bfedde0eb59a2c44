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

it.each([
  ['numbers', Array.from({ length: 300_000 }, (_, n) => n)],
  ['objects', Array.from({ length: 100_000 }, (_, n) => ({ a: n, b: `x${n}` }))],
  [
    'long numbers',
    parseLossless(`[${Array.from({ length: 150_000 }, (_, n) => `${'1'.repeat(20)}${n}`).join()}]`),
  ],
])('I6: 60 conditions on an answer of %s are decided within a second', (_, list) => {
  const before = process.threadCpuUsage()
  expect(has(list, '123456789123456789.5', 60)).toBe(false)
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1000)
})
