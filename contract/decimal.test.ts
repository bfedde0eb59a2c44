import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals, type Decimal, parseDecimal } from './decimal.ts'

const read = (text: string): Decimal => {
  const decimal = parseDecimal(text)
  if (!decimal) throw new Error(`not a number: ${text}`)
  return decimal
}
const order = (a: string, b: string) => Math.sign(compareDecimals(read(a), read(b)))

describe('parseDecimal', () => {
  it.each(['0', '-0', '5', '-5', '007', '5.', '.5', '-.5', '1.50', '1e3', '1E-3', '1e+21'])(
    'reads %s',
    (text) => {
      expect(parseDecimal(text)).not.toBeNull()
    },
  )

  it.each(
    [
      '',
      ' ',
      ' 5',
      '5 ',
      '+5',
      '-',
      '.',
      '-.',
      'e5',
      '5e',
      '5e+',
      '1.2.3',
      '--5',
      '0x10',
      '0b1',
      '1_000',
      '1,000',
      '1e9999',
    ].concat(['5n', 'NaN', 'Infinity', '٣', '5\n', 'five']),
  )('%j is not a number', (text) => {
    expect(parseDecimal(text)).toBeNull()
  })

  it('handles a hostile text quickly', () => {
    expect(order(`1${'0'.repeat(200_000)}1`, `1${'0'.repeat(200_000)}2`)).toBe(-1)
    expect(parseDecimal(`${'0'.repeat(200_000)}x`)).toBeNull()
  })
})

describe('compareDecimals', () => {
  it.each([
    ['9007199254740993', '9007199254740992', 1],
    ['0.1', '0.10000000000000000001', -1],
    ['1', '1.000', 0],
    ['007', '7', 0],
    ['-0', '0.00', 0],
    ['1e3', '1000', 0],
    ['1200e-2', '12', 0],
    ['0.001', '1e-3', 0],
    ['1e999', '1e998', 1],
    ['-2', '-10', 1],
    ['-2', '1', -1],
    ['0', '-1', 1],
    ['0', '1e-9', -1],
    ['99', '100', -1],
    ['12', '123', -1],
  ])('%s against %s is %i', (a, b, expected) => {
    expect(order(a, b)).toBe(expected)
    expect(order(b, a)).toBe(expected === 0 ? 0 : -expected)
  })

  it('agrees with integers of any length', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), fc.nat(9), (a, b, zeros) => {
        const padded = `${b < 0n ? '-' : ''}${'0'.repeat(zeros)}${b < 0n ? -b : b}.${'0'.repeat(zeros)}`
        expect(order(String(a), padded)).toBe(a === b ? 0 : a < b ? -1 : 1)
      }),
    )
  })

  it('agrees with doubles as JavaScript prints them', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(double, double, (a, b) => {
        expect(order(String(a), String(b))).toBe(a === b ? 0 : a < b ? -1 : 1)
      }),
    )
  })
})
