import { describe, expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { findText, hasText, listPlaces, replaceText } from './search.ts'

const MB = 1024 * 1024
/** Texts on which V8's own search takes quadratic time in the length of the needle. */
const WORST: [string, string, string][] = [
  ['a needle with one other letter in its middle', `${'a'.repeat(12_000)}b${'a'.repeat(12_000)}`, 'a'],
  ['a needle with another letter at its end', `${'a'.repeat(24_000)}b`, 'a'],
  ['a needle with another letter at its beginning', `b${'a'.repeat(24_000)}`, 'a'],
  ['a needle of two letters in turn', `${'ab'.repeat(12_000)}aa`, 'ab'],
]

describe('search of texts', () => {
  it.each(WORST)('looks for %s, 24 KB in 1 MB, within 200 ms (F56)', (_, needle, filling) => {
    const text = filling.repeat(MB / filling.length)
    const before = process.threadCpuUsage()
    expect(hasText(text, needle)).toBe(false)
    expect(replaceText(text, needle, '!')).toBe(text)
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(200)
    expect(findText(text + needle, needle)).toBeGreaterThan(MB - needle.length)
  })

  it('finds and replaces as the language itself does', () => {
    const random = createRandom(56)
    const below = (end: number) => Math.floor(random() * end)
    const word = (longest: number) =>
      Array.from({ length: 1 + below(longest) }, () => 'ab'[below(20) === 0 ? 1 : 0]).join('')
    for (let n = 0; n < 2000; n += 1) {
      const [text, needle, from] = [word(600), word(n % 2 === 0 ? 150 : 10), below(50)]
      expect(findText(text, needle, from)).toBe(text.indexOf(needle, from))
      expect(replaceText(text, needle, '$&')).toBe(text.replaceAll(needle, () => '$&'))
    }
  })

  it('lists places that overlap', () => {
    expect([...listPlaces('aaaa', 'aa')]).toEqual([0, 1, 2])
    expect([...listPlaces('aaaa', '')]).toEqual([])
  })
})
