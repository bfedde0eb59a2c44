import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashToken, isWellFormedKey, newKey, randomText } from './keys.ts'

const anyKey = fc.constant(null).map(newKey)

describe('D3: an API key', () => {
  it('is loam_ and 40 base62 characters, and well-formed', () => {
    for (let n = 0; n < 1000; n++) {
      const key = newKey()
      expect(key).toMatch(/^loam_[0-9A-Za-z]{40}$/)
      expect(isWellFormedKey(key)).toBe(true)
    }
  })

  it('is never made twice', () => {
    expect(new Set(Array.from({ length: 20_000 }, newKey)).size).toBe(20_000)
  })

  it('with any one character replaced is refused', () => {
    const character = fc.oneof(
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
      fc.constantFrom('é', '😀'),
    )
    fc.assert(
      fc.property(anyKey, fc.nat(44), character, (key, at, typo) => {
        fc.pre(key[at] !== typo)
        expect(isWellFormedKey(key.slice(0, at) + typo + key.slice(at + 1))).toBe(false)
      }),
      { numRuns: 5000 },
    )
  })

  it('with every possible character at every place of its checked part is refused', () => {
    const key = newKey()
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const accepted: string[] = []
    for (let at = 5; at < key.length; at++) {
      for (const letter of alphabet) {
        const other = key.slice(0, at) + letter + key.slice(at + 1)
        if (other !== key && isWellFormedKey(other)) accepted.push(other)
      }
    }
    expect(accepted).toEqual([])
  })

  it('with two neighbours exchanged, a character missing or one too many is refused', () => {
    fc.assert(
      fc.property(anyKey, fc.integer({ min: 5, max: 43 }), (key, at) => {
        fc.pre(key[at] !== key[at + 1])
        const exchanged = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2)
        expect(isWellFormedKey(exchanged)).toBe(false)
        expect(isWellFormedKey(key.slice(0, at) + key.slice(at + 1))).toBe(false)
        expect(isWellFormedKey(key.slice(0, at) + key[at] + key.slice(at))).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it.each(['', 'loam_', 'LOAM_', '\n', ' '])('with %j put before or after it is refused', (extra) => {
    const key = newKey()
    expect(isWellFormedKey(extra + key)).toBe(extra === '')
    expect(isWellFormedKey(key + extra)).toBe(extra === '')
  })

  it('is checked in the form that scanners of leaked keys can compute', () => {
    expect(isWellFormedKey(`loam_${'0'.repeat(34)}0iqUEf`)).toBe(true)
  })
})

it('tokens are hashed with SHA-256', () => {
  expect(hashToken('a token')).toEqual(createHash('sha256').update('a token').digest())
})

it('random text has the length that was asked for and uses its whole alphabet', () => {
  const text = randomText(10_000)
  expect(text).toHaveLength(10_000)
  expect(new Set(text).size).toBe(62)
})
