import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const HOME = 'docs/specification-decisions.md'
/**
 * The letters of numbers that may be cited: decisions about the specification (D), and faults that Loam
 * survives (R).
 */
const LETTERS = ['D', 'R']

const findEntries = (document: string, letter: string) =>
  [...document.matchAll(new RegExp(`^- \\*\\*${letter}(\\d+)\\*\\* \\S`, 'gm'))].map(([, number]) =>
    Number(number),
  )

/**
 * Finds citations as people write them: `D12`, `(D13, D47)`, `D16:`. Ignores parts of longer words, ids and
 * colours.
 */
const findCitations = (text: string, letter: string) =>
  [...text.matchAll(new RegExp(`(?<![\\w#%\\\\/+=-])${letter}([1-9]\\d{0,2})(?![\\w%/+=-])`, 'g'))].map(
    ([, number]) => Number(number),
  )

const home = readFileSync(HOME, 'utf8')
const files = globSync('**/*.{ts,tsx,mjs,md,sql}', {
  exclude: (name) => /^(node_modules|data|dist|\..+)$/.test(name),
})
  .filter((file) => file !== 'test/guards/decisions.test.ts')
  .sort()
const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))

describe.each(LETTERS)(`the numbers %s in ${HOME}`, (letter) => {
  const entries = findEntries(home, letter)

  it('stand there once each, in order and without a gap', () => {
    expect(entries.length).toBeGreaterThan(0)
    expect(entries).toEqual(entries.map((_, at) => at + 1))
  })

  it('hold every one that is cited anywhere', () => {
    const known = new Set(entries)
    const cited = texts.flatMap(({ file, text }) =>
      findCitations(text, letter).map((number) => ({ file, number })),
    )
    // Other files than the document must cite numbers too.
    expect(new Set(cited.map(({ file }) => file)).size).toBeGreaterThan(5)
    expect(
      cited
        .filter(({ number }) => !known.has(number))
        .map(({ file, number }) => `${file}: ${letter}${number}`),
    ).toEqual([])
  })
})

describe('these checks', () => {
  it('see each form of citation, and nothing else', () => {
    const text = `it('D12: x') (D13, D47) D900's \`D5\` D24"s D6. // #D12345 D1a MAD7 D8_ x-D9 D0 %D11 D1234 /D3/ D99`
    expect(findCitations(text, 'D')).toEqual([12, 13, 47, 900, 5, 24, 6, 99])
    expect(findCitations(text, 'R')).toEqual([])
  })

  it('see entries that are missing, doubled or out of order', () => {
    expect(
      findEntries('- **D1** One.\n- **D3** Three.\n- **D2**\n  - **D4** Four.\n- **D3** Again.', 'D'),
    ).toEqual([1, 3, 3])
  })
})
