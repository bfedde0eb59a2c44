import { expect, it } from 'vitest'
import { isLargerJson } from './json-size.ts'
import { NumberText } from './lossless-json.ts'

it.each([
  ['texts', { a: 'x'.repeat(1000) }, 900, true],
  ['texts that fit', { a: 'x'.repeat(1000) }, 1100, false],
  ['many small ones', { list: Array.from({ length: 1000 }, () => 'abc') }, 5000, true],
  ['keys', { ['k'.repeat(500)]: null }, 400, true],
  ['nesting', [[[['x'.repeat(100)]]]], 90, true],
  ['escapes of long texts', { a: '\u0001'.repeat(100_000) }, 200_000, true],
  ['nothing', null, 10, false],
  ['numbers that fit exactly', Array.from({ length: 1000 }, () => 7), 2001, false],
  ['numbers as they were written', [new NumberText('1'.repeat(100))], 90, true],
  ['numbers as they were written that fit exactly', [new NumberText('12'), new NumberText('3')], 6, false],
])('%s', (_, value, max, larger) => expect(isLargerJson(value, max)).toBe(larger))

it('stops as soon as the answer is known', () => {
  const one = 'x'.repeat(100)
  const endless = new Proxy([] as string[], {
    get: (_, key) => {
      if (key === 'length') return 1e9
      if (Number(key) > 50) throw new Error('looked too far')
      return one
    },
  })
  expect(isLargerJson(endless, 2000)).toBe(true)
})
