import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureJson } from './json-scan.ts'
import { NumberText, parseWithNumberTexts } from './lossless-json.ts'
import { parseInTurns } from './parse-in-turns.ts'

const LARGE = 'x'.repeat(200_000)
const plain = (text: string): unknown => JSON.parse(text)

describe('R13: a large body is parsed in turns, to exactly what JSON.parse makes of it', () => {
  it.each<[string, unknown]>([
    ['many small items', Array.from({ length: 100_000 }, (_, n) => n)],
    ['many small entries', Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n]))],
    ['large items between small ones', [1, LARGE, 2, [LARGE, { a: LARGE }], 3, LARGE]],
    ['large entries between small ones', { a: 1, b: LARGE, c: { d: [LARGE], e: null }, f: LARGE, g: true }],
    ['a large text', LARGE],
    [
      'quotes, brackets and backslashes in texts',
      [`"]},{[\\"${LARGE}\\`, { '"}]': LARGE, '\\': `\\"${LARGE}` }],
    ],
    ['nothing', []],
  ])('%s', async (_, value) => {
    for (const text of [JSON.stringify(value), ` \n${JSON.stringify(value, null, 2)}\t `]) {
      expect(await parseInTurns(text, plain)).toEqual(value)
    }
  })

  it('a repeated name has its last value, __proto__ is a name, and numbers keep their digits', async () => {
    const text = `{"a": "${LARGE}", "a": 12345678901234567890, "__proto__": {"b": "${LARGE}"}}`
    const parsed = (await parseInTurns(text, parseWithNumberTexts)) as Record<string, unknown>
    expect(parsed['a']).toEqual(new NumberText('12345678901234567890'))
    const digits = '9'.repeat(200_000)
    expect(await parseInTurns(`{"a": ${digits}}`, parseWithNumberTexts)).toEqual({
      a: new NumberText(digits),
    })
    expect(Object.keys(parsed)).toEqual(['a', '__proto__'])
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  })

  it.each([
    `[${LARGE}]`,
    `["${LARGE}",]`,
    `[,"${LARGE}"]`,
    `["${LARGE}" "b"]`,
    `["${LARGE}"}`,
    `["${LARGE}"`,
    `["${LARGE}`,
    `["${LARGE}"] 1`,
    `{"a": "${LARGE}",}`,
    `{"a" "${LARGE}"}`,
    `{a: "${LARGE}"}`,
    `{"a": }${' '.repeat(200_000)}`,
    `{"a": "${LARGE}", "b"}`,
    `[[1}${' '.repeat(200_000)}]`,
  ])('what is no JSON is refused in the same words: case %#', async (text) => {
    const reason = (() => {
      try {
        JSON.parse(text)
      } catch (cause) {
        return String(cause)
      }
      throw new Error('the case is JSON')
    })()
    await expect(parseInTurns(text, plain)).rejects.toThrow(reason.replace('SyntaxError: ', ''))
  })

  it('any JSON, with any blanks', async () => {
    const cases = fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.nat(4), async (value, blanks) => {
      const inside = { before: LARGE, value, list: [value, LARGE, value] }
      const text = JSON.stringify(inside, null, blanks)
      expect(await parseInTurns(text, plain)).toEqual(JSON.parse(text))
    })
    await fc.assert(cases, { numRuns: 50 })
  })

  it('other work has its turn in between', async () => {
    const text = JSON.stringify(Array.from({ length: 400_000 }, (_, n) => ({ n })))
    let turns = 0
    const counter = setInterval(() => (turns += 1), 0)
    await parseInTurns(text, parseWithNumberTexts)
    clearInterval(counter)
    expect(turns).toBeGreaterThan(1)
  })
})

it.each([
  ['[]', 1, 2],
  ['[1,2,3]', 1, 4],
  ['[[[]]]', 3, 4],
  ['{"a":[1,{"b":2}],"c":",[]"}', 3, 6],
  ['"a,\\",b"', 0, 1],
  ['[', 1, 2],
])('%s is %d deep and has %d values', (text, deepest, values) => {
  expect(measureJson(text)).toEqual({ deepest, values })
})
