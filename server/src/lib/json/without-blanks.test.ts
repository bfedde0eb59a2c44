import { expect, it } from 'vitest'
import { heldMs } from '../timing/testing/watched-turns.ts'
import { atOnce, inTurns } from '../timing/turns.ts'
import { withoutBlanksInSteps } from './without-blanks.ts'

it.each([
  ['{"a": 1.50, "b": [1, 2 ,3]}', '{"a":1.50,"b":[1,2,3]}'],
  ['{"a b": "c  d\\" e: , "}', '{"a b":"c  d\\" e: , "}'],
  ['{"a": "\\\\", "b": " "}', '{"a":"\\\\","b":" "}'],
  [' [\t1\r\n] ', '[1]'],
  ['12345678901234567890', '12345678901234567890'],
  ['"a', '"a'],
  ['', ''],
])('%j without the blanks between its tokens is %j', (text, expected) => {
  expect(atOnce(withoutBlanksInSteps(text))).toBe(expected)
})

it.each([
  ['values', `[${'1, '.repeat(300_000)}1]`],
  ['quotes in a text', `["${'\\"'.repeat(4_000_000)}"]`],
  ['backslashes', `["${'\\\\'.repeat(4_000_000)}"]`],
  ['blanks', `[${' '.repeat(8_000_000)}]`],
])('I6: megabytes of %s never hold the thread', async (_, text) => {
  const held = await heldMs(async () => {
    const compact = await inTurns(withoutBlanksInSteps(text))
    expect(compact.length).toBe(atOnce(withoutBlanksInSteps(compact)).length)
  }, 200)
  expect(held).toBeLessThan(200)
})
