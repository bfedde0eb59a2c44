import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isUuid, timeOfId } from './ids.ts'

const COUNT = 100_000
const START = Date.UTC(2026, 0, 1)

let newId: () => string
// Each test loads its own generator: a generator that has been ahead of the clock stays ahead.
beforeEach(async () => {
  vi.resetModules()
  newId = (await import('./ids.ts')).newId
})
afterEach(() => vi.useRealTimers())

const make = (count: number) => Array.from({ length: count }, newId)
const timeOf = (id: string) => timeOfId(id).getTime()

/** Returns the first index at which an id is not greater than the previous one, or -1. */
function firstDisorder(ids: string[]): number {
  return ids.findIndex((id, at) => at > 0 && id <= (ids[at - 1] ?? ''))
}

function freezeClock(at: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
}

describe('a new id', () => {
  it('is a UUID of version 7', () => {
    for (const id of make(5000)) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(isUuid(id)).toBe(true)
    }
  })

  it('holds the time at which it was made', () => {
    const before = Date.now()
    const id = newId()
    expect(timeOf(id)).toBeGreaterThanOrEqual(before)
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now())
    freezeClock(START)
    vi.setSystemTime(Date.UTC(2055, 4, 5, 6, 7, 8, 9))
    expect(new Date(timeOf(newId())).toISOString()).toBe('2055-05-05T06:07:08.009Z')
  })

  it(`is greater than every one before it, for ${COUNT} in a row`, () => {
    expect(firstDisorder(make(COUNT))).toBe(-1)
  })

  it(`is greater than every one before it, for ${COUNT} within one millisecond`, () => {
    freezeClock(START)
    const ids = make(COUNT)
    expect(firstDisorder(ids)).toBe(-1)
    // 4,096 ids fit into a millisecond. The others continue in the following milliseconds.
    expect(timeOf(ids.at(-1) ?? '') - START).toBeLessThanOrEqual(Math.ceil(COUNT / 4096))
  })

  it(`is greater than every one before it, for ${COUNT} while the clock jumps about`, () => {
    freezeClock(START)
    const ids = Array.from({ length: COUNT }, (_, n) => {
      if (n % 10 === 0) vi.setSystemTime(START + ((n * 7919) % 20_000) - 10_000)
      return newId()
    })
    expect(firstDisorder(ids)).toBe(-1)
  })

  it('follows the clock again once that has caught up', () => {
    freezeClock(START)
    newId()
    vi.setSystemTime(START - 60_000)
    expect(timeOf(newId())).toBe(START)
    vi.setSystemTime(START + 1)
    expect(timeOf(newId())).toBe(START + 1)
  })

  it('cannot be guessed from the one before it: 62 random bits differ', () => {
    freezeClock(START)
    const tails = make(COUNT).map((id) => id.slice(19))
    expect(new Set(tails).size).toBe(COUNT)
  })
})

describe('isUuid', () => {
  it('accepts any UUID in either case', () => {
    fc.assert(fc.property(fc.uuid(), (id) => isUuid(id) && isUuid(id.toUpperCase())))
  })

  it.each([
    '',
    'not-a-uuid',
    '0190163d-8694-739b-aea5-966c26f8ad9',
    '0190163d-8694-739b-aea5-966c26f8ad911',
    '0190163d8694739baea5966c26f8ad91',
    '{0190163d-8694-739b-aea5-966c26f8ad91}',
    '0190163d-8694-739b-aea5-966c26f8ad91\n',
    'g190163d-8694-739b-aea5-966c26f8ad91',
  ])('refuses %j', (text) => expect(isUuid(text)).toBe(false))
})
