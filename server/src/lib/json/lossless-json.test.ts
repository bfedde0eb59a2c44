import { describe, expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { NumberText, parseExact, parseLossless } from './lossless-json.ts'

describe('numbers of JSON', () => {
  it.each([
    ['0', 'plain'],
    ['-12.5', 'plain'],
    ['0.000001', 'plain'],
    ['123456789012345', 'plain'],
    ['52.52000659999999', 'plain'],
    ['9007199254740993', 'text'],
    ['12345678901234567890', 'text'],
    ['1234567890.12345678', 'text'],
    ['1.50', 'text'],
    ['1.0', 'text'],
    ['-0', 'text'],
    ['0.0000001', 'text'],
    ['1e3', 'text'],
    ['1.5E-7', 'text'],
    ['1e400', 'text'],
  ])('%s is read as %s where it has to print as it was written', (number, kind) => {
    const places = [number, `[${number}]`, `{"a":"x","b": ${number} }`, `[1,\n${number}\n,2]`]
    for (const text of places) {
      expect(JSON.stringify(parseExact(text))).toBe(text.replaceAll(/\s/g, ''))
    }
    expect(parseExact(number) instanceof NumberText).toBe(kind === 'text')
  })

  it.each(['12345678901234567890', '1234567890.12345678', '0.1234567890123456789'])(
    'the digits of %s are kept where others are plain',
    (number) => {
      expect(JSON.stringify(parseLossless(`[1.5,${number}]`))).toBe(`[1.5,${number}]`)
    },
  )

  it.each(['1e200000', '1.5E-20000', '9'.repeat(200_000), `0.${'1'.repeat(20_000)}`])(
    'D28: a number that PostgreSQL does not hold is kept as its text, not as a number that no cell can be settled with: %.12s',
    (number) => {
      expect(parseExact(`{"a":[${number}]}`)).toEqual({ a: [number] })
      expect(parseLossless(`[${number},1]`)).toEqual([number, 1])
    },
  )

  it('D28: what was stored within bounds reads as a number, also as PostgreSQL writes it out', () => {
    const number = `1${'0'.repeat(1000)}`
    expect(JSON.stringify(parseLossless(`[${number}]`))).toBe(`[${number}]`)
  })

  it('every number prints as it was written, whatever stands beside it', () => {
    const random = createRandom(7)
    const digits = (most: number) =>
      Array.from({ length: 1 + Math.floor(random() * most) }, () => Math.floor(random() * 10)).join('')
    for (let n = 0; n < 20_000; n++) {
      const whole = digits(20).replace(/^0+(?=\d)/, '')
      const fraction = random() < 0.5 ? `.${random() < 0.3 ? '00000' : ''}${digits(18)}` : ''
      const exponent = random() < 0.1 ? `e${digits(2)}` : ''
      const number = `${random() < 0.3 ? '-' : ''}${whole}${fraction}${exponent}`
      expect(JSON.stringify(parseExact(`{"a":${number}}`))).toBe(`{"a":${number}}`)
    }
  })
})
