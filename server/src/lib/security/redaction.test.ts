import { describe, expect, it } from 'vitest'
import { createRandom } from '#test/builders/seeded-random.ts'
import { hasText } from '../search.ts'
import { createMask } from './redaction.ts'

const MB = 1024 * 1024
const REPEATED = 'a'.repeat(MB)
/** Returns the milliseconds that this thread worked. Other processes work on the machine as well. */
const worked = (work: () => void) => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

describe('the mask of secrets', () => {
  it('cuts a secret of 24 KB out of 1 MB of the same letters within 200 ms (F56)', () => {
    const secret = `${'a'.repeat(12_000)}b${'a'.repeat(12_000)}`
    const mask = createMask([secret])
    expect(worked(() => expect(mask.inText(REPEATED)).toBe(REPEATED))).toBeLessThan(200)
    expect(mask.inText(`x${REPEATED}${secret.slice(12_000)}y`)).not.toBe(
      `x${REPEATED}${secret.slice(12_000)}y`,
    )
    expect(mask.inText(`x ${secret} y`)).toBe('x [redacted] y')
  })

  it('cuts a thousand secrets that begin alike out of 1 MB within 200 ms, and no less of it (F56)', () => {
    const secrets = Array.from({ length: 1000 }, (_, n) => `${'a'.repeat(4000)}${n + 1000}`)
    const mask = createMask(secrets)
    mask.inText('aaaa')
    expect(worked(() => mask.inText(REPEATED))).toBeLessThan(200)
    const cut = mask.inText(`${REPEATED}${secrets.join(' ')}`)
    for (const secret of secrets) expect(hasText(cut, secret)).toBe(false)
    expect(mask.inText(`x ${secrets[7]} y`)).toBe('x [redacted] y')
  })

  it('cuts the same of a text with few secrets as with many', () => {
    const random = createRandom(57)
    const below = (end: number) => Math.floor(random() * end)
    const word = (least: number, more: number) =>
      Array.from({ length: least + below(more) }, () => 'abc'[below(3)]).join('')
    for (let n = 0; n < 500; n += 1) {
      const [text, secrets] = [word(0, 200), Array.from({ length: 5 }, () => word(4, 4))]
      const others = Array.from({ length: 20 }, (_, other) => `other ${other}`)
      const cut = createMask([...secrets, ...others]).inText(text)
      expect(cut).toBe(createMask(secrets).inText(text))
      for (const secret of secrets) expect(cut).not.toContain(secret)
    }
  })

  it('cuts the same of a long text, piece by piece, wherever a secret lies in it', async () => {
    const [secret, overlapping] = ['a secret that is cut', 'is cut, and this one']
    const mask = createMask([secret, overlapping])
    const filling = 'x'.repeat(64 * 1024)
    for (let before = 0; before < 50; before += 1) {
      const start = filling.slice(before)
      const cut = `${start}[redacted]${filling}[redacted]`
      const text = `${start}${secret}, and this one${filling}${secret}`
      expect(mask.inText(text) === cut).toBe(true)
      expect(await mask.inLargeValue({ text })).toEqual({ text: cut })
    }
  })

  it('cuts secrets that overlap as one, and each of those that follow each other', () => {
    expect(createMask(['abcdef', 'defghi']).inText('1 abcdefghi 2')).toBe('1 [redacted] 2')
    expect(createMask(['secret']).inText('secretsecret')).toBe('[redacted][redacted]')
    expect(createMask(['key', 'a key']).inText('a key')).toBe('[redacted]')
  })
})
