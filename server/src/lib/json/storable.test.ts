import { expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { heldMs } from '../timing/testing/watched-turns.ts'
import { atOnce, inTurns } from '../timing/turns.ts'
import { NumberText } from './lossless-json.ts'
import { toStorableJson, toStorableJsonInSteps } from './storable.ts'

const MB = 1024 * 1024
const print = (value: unknown, max = 100 * MB) => atOnce(toStorableJsonInSteps(value, max))

it('prints values of any shape and size in steps as at once', () => {
  const random = createRandom(21)
  const below = (end: number) => Math.floor(random() * end)
  const signs = ['a', 'ä', '"', '\\', '\0', '😀', '\ud800', '\udc00', '\n']
  const makeText = (longest: number) =>
    Array.from({ length: below(longest) }, () => signs[below(signs.length)]).join('')
  const makeValue = (depth: number): unknown => {
    const count = depth === 0 ? 400 : below(4)
    switch (below(depth > 4 ? 4 : 6)) {
      case 0:
        return makeText(below(200) === 0 ? 150_000 : 30)
      case 1:
        return new NumberText('1.500')
      case 2:
        return null
      case 3:
        return below(1000)
      case 4:
        return Array.from({ length: count }, () => makeValue(depth + 1))
      default:
        return Object.fromEntries(
          Array.from({ length: count }, (_, n) => [
            n === 2 ? '__proto__' : `${n} ${below(10)}\n`,
            makeValue(depth + 1),
          ]),
        )
    }
  }
  for (let n = 0; n < 15; n += 1) {
    const value = [makeValue(0), Array.from({ length: 400 }, () => makeValue(1))]
    expect(print(value) === toStorableJson(value)).toBe(true)
  }
})

it('I6: the largest values hold the thread for less than 200 ms, and longer ones are refused', async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => ({ name: `n ${n}`, list: [n] }))
  for (const value of [rows, { text: '\n'.repeat(7 * MB) }, { [`"${'x'.repeat(5 * MB)}`]: [[rows]] }]) {
    const printAll = () => inTurns(toStorableJsonInSteps(value, 16 * MB))
    expect(await heldMs(printAll, 200)).toBeLessThan(200)
    expect((await printAll()) === toStorableJson(value)).toBe(true)
  }
  expect(print({ text: '\n'.repeat(9 * MB) }, 16 * MB)).toBeNull()
})
