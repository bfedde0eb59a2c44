import { expect, it } from 'vitest'
import { compareDecimals, parseDecimal } from '#contract/decimal.ts'
import { createRandom } from '#test/builders/seeded-random.ts'
import { hashDecimal } from './decimal-hash.ts'

it('equal decimals have equal hashes, others usually not, and what is no decimal has none', () => {
  const random = createRandom(43)
  const pick = (parts: string[]) => parts[Math.floor(random() * parts.length)] ?? ''
  const write = () => {
    const digits = Array.from({ length: 4 }, () => pick(['0', '0', '1', '2', '']))
    const whole = digits.slice(0, 2).join('')
    const fraction = pick(['', '.', `.${digits.slice(2).join('')}`])
    return `${pick(['', '-', '+', ''])}${whole}${fraction}${pick(['', '', 'e1', 'E-2', 'e+01', 'e0000', 'x'])}`
  }
  let collisions = 0
  for (let n = 0; n < 20_000; n += 1) {
    const [a, b] = [write(), write()]
    const [left, right] = [parseDecimal(a), parseDecimal(b)]
    expect([a, hashDecimal(a) === undefined]).toEqual([a, left === null])
    if (left === null || right === null) continue
    const isSame = compareDecimals(left, right) === 0
    if (isSame) expect([a, b, hashDecimal(a)]).toEqual([a, b, hashDecimal(b)])
    else if (hashDecimal(a) === hashDecimal(b)) collisions += 1
  }
  expect(collisions).toBeLessThan(10)
})
