import { describe, expect, it } from 'vitest'
import { createUrlGuard } from './url-guard.ts'

const reads = (words: string, url: string) => createUrlGuard(words, []).check(url).ok

describe('the agent reads pages of domains that the task names', () => {
  it.each([
    ['Who founded acme.com?', 'https://www.acme.com/about', true],
    ['See https://acme.com.', 'https://acme.com/', true],
    ['See http://acme.com:8080/a and go', 'http://acme.com:8080/b', true],
    ['Write to jane@acme.internal', 'http://acme.internal/', true],
    ['Look at ...acme.com... now', 'https://acme.com/', true],
    ['On http://[2001:db8::1]/x', 'http://[2001:db8::1]/y', true],
    ['Is 192.0.2.7 theirs?', 'http://192.0.2.7/', true],
    ['Written in Node.js, e.g. by us', 'https://node.js/', false],
    ['Who founded acme.com?', 'https://other.com/', false],
    ['acme..com', 'https://acme.com/', false],
  ])('%s: %s %s', (words, url, ok) => {
    expect(reads(words, url)).toBe(ok)
  })

  it.each(['a', 'a.', '-', 'a@', 'a.b ', 'http://a', '.'])(
    'a text of a million characters, %j again and again, is gone through in one pass',
    (part) => {
      expect(reads(part.repeat(1_000_000 / part.length), 'https://other.com/')).toBe(false)
    },
  )
})
