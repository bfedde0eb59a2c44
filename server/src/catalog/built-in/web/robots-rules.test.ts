import { describe, expect, it } from 'vitest'
import { worstRobots } from '#test/faults/breaks/worst-shapes.ts'
import { parseRobots } from './robots-rules.ts'

const allows = (text: string, path: string) => parseRobots(text, 'Loam').allows(`https://a.example${path}`)
const all = (...rules: string[]) => ['User-agent: *', ...rules].join('\n')

describe('F55: robots.txt is read as RFC 9309 requires', () => {
  it.each<[string, string, boolean]>([
    ['', '/a', true],
    [all('Disallow:'), '/a', true],
    [all('Disallow: /a'), '/a', false],
    [all('Disallow: /a'), '/ab?c', false],
    [all('Disallow: /a'), '/A', true],
    [all('Disallow: /a$'), '/ab', true],
    [all('Disallow: /a$'), '/a', false],
    [all('Disallow: /*.php$'), '/x/y.php', false],
    [all('Disallow: /*.php$'), '/x/y.php?z', true],
    [all('Disallow: /*.php'), '/x/y.php?z', false],
    [all('Disallow: /a*b*c'), '/a1b2c3', false],
    [all('Disallow: /a*b*c'), '/a1c2b3', true],
    [all('Disallow: /a*bc$'), '/abcbc', false],
    [all('Disallow: /ab*b$'), '/ab', true],
    [all('Disallow: *'), '/', false],
    [all('Disallow: /*?'), '/a?', true],
    [all('Disallow: /*?'), '/a?b', false],
    // The longest rule decides in any order. Of two rules with the same length, the one that allows decides.
    [all('Disallow: /', 'Allow: /a'), '/a', true],
    [all('Allow: /a', 'Disallow: /a/b'), '/a/b', false],
    [all('Disallow: /a', 'Allow: /a'), '/a', true],
    [all('Allow: /*', 'Disallow: /ab'), '/ab', false],
    // Percent-encoded and plain octets are equal, reserved ones are not.
    [all('Disallow: /caf%c3%a9'), '/café', false],
    [all('Disallow: /café'), '/caf%C3%A9', false],
    [all('Disallow: /%61b'), '/ab', false],
    [all('Disallow: /a%2fb'), '/a/b', true],
    [all('Disallow: /a%2Fb'), '/a%2fb', false],
    [all('Disallow: /a%2Ab'), '/a*b', false],
    [all('Disallow: /a%2Ab'), '/axb', true],
    [all('Disallow: /a$b'), '/a$b', false],
    // Groups apply by name, in any case and with a version, and all of them together. Groups of other robots never apply.
    ['User-agent: loam\nDisallow: /\n', '/a', false],
    ['User-agent: LOAM/2.0\nDisallow: /', '/a', false],
    ['User-agent: Loamy\nDisallow: /', '/a', true],
    ['User-agent: GPTBot\nDisallow: /', '/a', true],
    ['User-agent: GPTBot\nUser-agent: *\nDisallow: /', '/a', false],
    ['User-agent: *\n\n# all\nUser-agent: GPTBot\n\nDisallow: /', '/a', false],
    [all('Disallow: /', '', 'User-agent: Loam', 'Disallow:'), '/a', true],
    [all('Disallow: /', '', 'User-agent: Loam'), '/a', true],
    [
      'User-agent: Loam\nDisallow: /a\nUser-agent: x\nDisallow: /c\nUser-agent: Loam\nDisallow: /b',
      '/b',
      false,
    ],
    [
      'User-agent: Loam\nDisallow: /a\nUser-agent: x\nDisallow: /c\nUser-agent: Loam\nDisallow: /b',
      '/c',
      true,
    ],
    // Lines as people write them.
    ['\uFEFFuser-AGENT : * # all\r\n disallow : /a # this\r\n', '/a', false],
    [all('Sitemap: https://a.example/s.xml', 'Crawl-delay: 9', 'Disallow: /a'), '/a', false],
    ['User-agent: *\rDisallow: /a', '/a', false],
    ['Disallow: /', '/a', true],
    [all('# Disallow: /'), '/a', true],
    ['<html><body>Disallow: /</body></html>', '/a', true],
  ])('%j for %s: %s', (text, path, expected) => {
    expect(allows(text, path)).toBe(expected)
  })

  it('and its sitemaps are found in any place', () => {
    const text = `Sitemap: /a.xml\n${all('Disallow: /')}\nSITEMAP: https://a.example/b.xml`
    expect(parseRobots(text, 'Loam').sitemaps).toEqual(['/a.xml', 'https://a.example/b.xml'])
  })

  it('but at most 500 KB and 5,000 rules of it', () => {
    const rule = (n: number) => `Disallow: /${n}$`
    const many = all(...Array.from({ length: 6_000 }, (_, n) => rule(n)))
    expect([allows(many, '/4999'), allows(many, '/5000')]).toEqual([false, true])
    expect(allows(all('#'.repeat(500 * 1024), 'Disallow: /'), '/a')).toBe(true)
  })
})

const PATHS = [
  '/',
  `/${'a'.repeat(8_000)}`,
  `/${'*p'.repeat(4_000)}`,
  `/${'a*a'.repeat(2_000)}b`,
  `/${'/page'.repeat(1_000)}`,
]
const HELD_MS = 200

it.each([
  ...worstRobots(),
  [
    'stars and long pieces',
    all(...Array.from({ length: 500 }, (_, n) => `Disallow: /*${'a'.repeat(900)}b${n}`)),
  ],
  [
    'many stars before an end',
    all(...Array.from({ length: 5_000 }, () => `Disallow: /${'*a'.repeat(40)}*b$`)),
  ],
])('F55: a robots.txt of %s is read and matched within 200 ms of the thread', (_what, text) => {
  const fastest = Math.min(
    ...Array.from({ length: 2 }, () => {
      const before = process.cpuUsage()
      const rules = parseRobots(text, 'Loam')
      const read = process.cpuUsage(before)
      const slowest = PATHS.map((path) => {
        const start = process.cpuUsage()
        rules.allows(`https://a.example${path}`)
        return process.cpuUsage(start).user / 1000
      })
      return Math.max(read.user / 1000, ...slowest)
    }),
  )
  expect(fastest).toBeLessThan(HELD_MS)
})
