import { describe, expect, it } from 'vitest'
import { Response } from '../egress/response.ts'
import { heldMs } from '../timing/testing/watched-turns.ts'
import { parseBounded } from './bounded-json.ts'
import { parseLossless } from './lossless-json.ts'

const HELD_MS = 200
/** The size of the largest response that is accepted. */
const SIZE = 10_000_000
/** The largest number of values in a response, minus some for the containers around them. */
const VALUES = 299_000
/** The largest number of keys in an object, minus one. */
const KEYS = 49_999

const fill = (unit: string, size = SIZE) => unit.repeat(Math.floor(size / unit.length))
const list = (write: (n: number) => string, count = VALUES) =>
  Array.from({ length: count }, (_, n) => write(n))
const rest = (used: number) => `"${'x'.repeat(SIZE - used)}"`
const nested = `${'['.repeat(90)}${']'.repeat(90)}`

const SHAPES: [string, string, boolean][] = [
  ['too many numbers', `[${fill('1,')}1]`, false],
  ['too many long numbers', `[${fill('12345678901234567890,')}1]`, false],
  ['long numbers', `[${list((n) => `123456789012345678901234${n}`).join(',')}]`, true],
  ['numbers with exponents', `[${fill('1.0e5,', 6 * VALUES)}${rest(7 * VALUES)}]`, true],
  ['too many keys', `{${list((n) => `"k${n}":1.50e3`).join(',')},"z":${rest(5_200_000)}}`, false],
  ['keys', `{${list((n) => `"k${n}":1.50e3`, KEYS).join(',')},"z":${rest(1_000_000)}}`, true],
  ['long keys', `{${list((n) => `"${'k'.repeat(20)}${n}":1.0`, KEYS).join(',')}}`, true],
  ['too many keys of one hash', `{${list((n) => `"${4_294_967_000 - n * 14_000}":1.0`).join(',')}}`, false],
  ['keys of one hash', `{${list((n) => `"${4_294_967_000 - n * 14_000}":1.0`, KEYS).join(',')}}`, true],
  ['repeated keys', `{${fill('"a":1.50,', 9 * VALUES)}"a":${rest(9 * VALUES)}}`, true],
  ['prototypes', `{${fill('"__proto__":{"a":1.0},', 3_000_000)}"a":1}`, true],
  ['nested to 90', `[${fill(`${nested},`, 180 * 3_000)}${rest(180 * 3_000)}]`, true],
  ['nested around much', `${'['.repeat(100)}${rest(200)}${']'.repeat(100)}`, true],
  [
    'nested around many',
    `${'['.repeat(99)}${list((n) => `1.0${n}`, 290_000).join(',')}${']'.repeat(99)}`,
    true,
  ],
  ['nested without end', '['.repeat(SIZE), false],
  ['objects', `[${list((n) => `{"a":{"b":1.${n}0}}`, 99_000).join(',')}]`, true],
  ['a text', `"${'x'.repeat(SIZE - 2)}"`, true],
  ['a text of escapes', `["${fill(String.raw`\u0041`)}"]`, true],
  ['a text of quotes', `["${fill(String.raw`\"`)}"]`, true],
  ['a text of backslashes', `["${fill('\\\\')}"]`, true],
  ['a text of digits', `["${fill('123456789012345 ')}"]`, true],
  ['a text of numbers', `["${fill(', 123456789012345')}"]`, true],
  ['a name of digits', `{"${fill('123456789012345 ')}":1.0}`, true],
  ['a text of wide letters', `["${fill('ä', SIZE / 2)}",1.0]`, true],
  ['a number', `[${'9'.repeat(SIZE)}]`, true],
  ['a fraction', `[1.${'9'.repeat(SIZE)}]`, true],
  ['blanks', `[${' '.repeat(SIZE)}1]`, true],
  ['blanks at the end', `[1]${' '.repeat(SIZE)}`, true],
  ['an open text', `{"a":"${'x'.repeat(SIZE)}`, false],
  ['an open text of backslashes', `["${fill('\\')}`, false],
  ['a comma too many', `[${list((n) => `1.50${n}`).join(',')},${rest(3_000_000)},]`, false],
  ['brackets that do not match', `[${fill('[1}', 900_000)},${rest(3_000_000)}]`, false],
]

describe('I2: the largest JSON responses of any shape never block the thread of the server', () => {
  it.each(SHAPES)('%s', { timeout: 60_000 }, async (_, text, isRead) => {
    const body = Buffer.from(text)
    const reply = new Response(
      { status: 200, body, url: '', redirects: 0, location: null, more: false, ms: 1 },
      {},
    )
    const held: Record<string, number> = {}
    const reads = {
      exact: () => reply.exactJson(),
      lossless: async () => parseBounded(await reply.text(), parseLossless),
    }
    for (const [name, read] of Object.entries(reads)) {
      held[name] = await heldMs(async () => expect((await read()).ok).toBe(isRead), HELD_MS)
    }
    expect(Math.max(...Object.values(held)), JSON.stringify(held)).toBeLessThan(HELD_MS)
  })
})
