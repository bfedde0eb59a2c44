import { expect, it } from 'vitest'
import { compareTexts, normalizeText, trimEnd } from './plain-text.ts'

it.each([
  ['http://a//', '/', 'http://a'],
  ['a', '/', 'a'],
  ['//', '/', ''],
  ['', '/', ''],
])('%j without each %j at its end is %j', (text, sign, rest) => expect(trimEnd(text, sign)).toBe(rest))

it('texts are normalised as Unicode says', () => {
  for (const form of ['NFC', 'NFKC', 'NFKD'] as const)
    for (const text of ['e\u0301', 'ﬁ', 'q\u0323\u0307', '\u1100\u1161\u11a8', `a${'\u0301'.repeat(30)}`])
      expect(normalizeText(text, form)).toBe(text.normalize(form))
})

it('texts are sorted by their code units', () => {
  expect(['b', 'a', 'B', 'a'].toSorted(compareTexts)).toEqual(['B', 'a', 'a', 'b'])
})

it('I3: a million marks or slashes are gone through in linear time', () => {
  const before = process.threadCpuUsage()
  expect(normalizeText(`a${'\u0301\u0323'.repeat(500_000)}b`, 'NFKC')).toHaveLength(31)
  expect(trimEnd(`${'/'.repeat(1_000_000)}a`, '/')).toHaveLength(1_000_001)
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(500)
})
