import { afterEach, describe, expect, it, vi } from 'vitest'
import { backoff } from './backoff.ts'

afterEach(() => void vi.restoreAllMocks())
const withChance = (chance: number) => vi.spyOn(Math, 'random').mockReturnValue(chance)

describe('D24: retries wait with backoff and jitter', () => {
  it.each([
    [0, 500, 1000],
    [1, 1000, 2000],
    [2, 2000, 4000],
  ])('after %i retries between %i and %i ms', (retries, least, most) => {
    withChance(0)
    expect(backoff(retries)).toBe(least)
    withChance(1)
    expect(backoff(retries)).toBe(most)
  })

  it('rows that failed together come back at different times', () => {
    expect(new Set(Array.from({ length: 100 }, () => backoff(0))).size).toBeGreaterThan(50)
  })

  it('goes from its own first pause up to its longest, however often it was tried', () => {
    withChance(1)
    const pauses = [0, 1, 2, 3, 5000].map((retries) => backoff(retries, { firstMs: 125, maxMs: 600 }))
    expect(pauses).toEqual([125, 250, 500, 600, 600])
  })
})
