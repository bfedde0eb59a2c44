import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSealer, readKeyId, UnsealError } from './secrets.ts'

const OLD = 'the secret of last year'
const NEW = 'the secret of this year'
const sealer = createSealer(NEW)
const binding = { orgId: '0190163d-8694-739b-aea5-966c26f8ad91', record: 'connection 7' }

const anyText = fc.string({ unit: 'grapheme' })
const anyBinding = fc.record({ orgId: fc.string(), record: fc.string() })

/**
 * Returns the message of `open` for a value that must not open. Any error but an UnsealError passes through
 * and fails the test.
 */
function refusal(sealed: string, by = sealer, to = binding): string {
  try {
    return `opened: ${by.open(sealed, to)}`
  } catch (cause) {
    if (cause instanceof UnsealError) return cause.message
    throw cause
  }
}

describe('a sealed value', () => {
  it('opens to what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(anyText, anyBinding, (text, to) => {
        expect(sealer.open(sealer.seal(text, to), to)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('opens to what was sealed also when that is empty or a megabyte', () => {
    for (const text of ['', '\0', '0'.repeat(2 ** 20)])
      expect(sealer.open(sealer.seal(text, binding), binding)).toBe(text)
  })

  it('does not show its text, and is another one each time', () => {
    const all = Array.from({ length: 100 }, () => sealer.seal('canary', binding))
    expect(new Set(all).size).toBe(100)
    for (const sealed of all) {
      expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
      expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').includes('canary')).toBe(false)
    }
  })

  it('does not open for another organisation or another record', () => {
    const sealed = sealer.seal('canary', binding)
    const refused = 'the sealed value was altered or belongs to another record'
    expect(refusal(sealed, sealer, { ...binding, orgId: '0190163d-8694-739b-aea5-966c26f8ad92' })).toBe(
      refused,
    )
    expect(refusal(sealed, sealer, { ...binding, record: 'connection 8' })).toBe(refused)
  })

  it('is bound to the pair: no shift of characters between organisation and record opens it', () => {
    fc.assert(
      fc.property(anyBinding, anyBinding, (a, b) => {
        fc.pre(a.orgId !== b.orgId || a.record !== b.record)
        expect(refusal(sealer.seal('canary', a), sealer, b)).not.toContain('opened')
      }),
    )
    const sealed = sealer.seal('canary', { orgId: 'ab', record: 'c' })
    expect(refusal(sealed, sealer, { orgId: 'a', record: 'bc' })).not.toContain('opened')
  })

  it('is refused with any bit of any byte altered', () => {
    const [version, id, body = ''] = sealer.seal('canary', binding).split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(refusal(`${version}.${id}.${altered.toString('base64url')}`)).toContain('altered')
    }
  })

  it('is refused with any character of it replaced, removed or added', () => {
    const character = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 })
    // The texts have every length modulo 3: for two of them the last character of base64 has spare bits.
    const sealed = ['canary', 'canary1', 'canary12'].map((text) => sealer.seal(text, binding))
    fc.assert(
      fc.property(fc.constantFrom(...sealed), fc.nat(), character, (value, place, typo) => {
        const at = place % value.length
        fc.pre(value[at] !== typo)
        expect(refusal(value.slice(0, at) + typo + value.slice(at + 1))).not.toContain('opened')
        expect(refusal(value.slice(0, at) + value.slice(at + 1))).not.toContain('opened')
        expect(refusal(value.slice(0, at) + typo + value.slice(at))).not.toContain('opened')
        expect(refusal(value + typo)).not.toContain('opened')
      }),
      { numRuns: 5000 },
    )
  })

  it('that is too short or garbage gives an UnsealError and no other', () => {
    const id = sealer.seal('', binding).split('.')[1]
    const start = fc.constantFrom('', 'v1', 'v1.', 'v2.', `v1.${id}`, `v1.${id}.`, 'v1.00000000.')
    const tail = fc.oneof(fc.base64String(), fc.string(), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(start, tail, (first, rest) => {
        expect(refusal(first + rest)).not.toContain('opened')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('rotation of LOAM_SECRET', () => {
  const rotating = createSealer(`${NEW},${OLD}`)
  const before = createSealer(OLD).seal('canary', binding)

  it('`new,old` opens what either sealed and seals with the first', () => {
    expect(rotating.open(before, binding)).toBe('canary')
    const sealed = rotating.seal('canary', binding)
    expect(createSealer(NEW).open(sealed, binding)).toBe('canary')
    expect(refusal(sealed, createSealer(OLD))).not.toContain('opened')
  })

  it('tells which values are still to be sealed again', () => {
    const [current, old] = rotating.keyIds
    expect(readKeyId(before)).toBe(old)
    expect(readKeyId(rotating.seal('canary', binding))).toBe(current)
    expect(createSealer(OLD).keyIds).toEqual([old])
  })

  it('blanks around the comma do not matter', () => {
    expect(createSealer(` ${NEW} , ${OLD} `).open(before, binding)).toBe('canary')
  })

  it('says what to do when the secret has changed', () => {
    expect(refusal(before, createSealer(NEW))).toBe(
      'sealed with another LOAM_SECRET: add the old secret after a comma to open it',
    )
  })
})

it.each(['', ' ', ',', `,${OLD}`, `${NEW},`, `${NEW},,${OLD}`])(
  'the secret %j is refused: a part of it is empty',
  (secret) => {
    expect(() => createSealer(secret)).toThrow('LOAM_SECRET')
  },
)

it('keys for other purposes differ from each other; the first secret gives the first', () => {
  const [derived] = sealer.derive('links')
  const [before] = createSealer(OLD).derive('links')
  expect(derived).toHaveLength(32)
  expect(createSealer(`${NEW},${OLD}`).derive('links')).toEqual([derived, before])
  expect(sealer.derive('sessions')[0]).not.toEqual(derived)
  expect(before).not.toEqual(derived)
})
