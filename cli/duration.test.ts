import { expect, it } from 'vitest'
import { parseDuration } from './flags.ts'

it.each([
  ['0', 0],
  ['30s', 30_000],
  ['10m', 600_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['', undefined],
  ['24', undefined],
  ['1.5h', undefined],
  ['-1h', undefined],
  ['24 h', undefined],
])('D59: the duration %j is %j ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})
