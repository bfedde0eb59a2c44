import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/**
 * Regular expressions that take more than linear time on some long text, and why they never get one. A new one
 * is rewritten, or its text is bounded and it is named here.
 */
const BOUNDED: Record<string, string> = {
  'server/src/catalog/built-in/web/company-profile.ts': 'blanks are joined before',
  'server/src/catalog/built-in/web/page-fetch.ts': 'a tag of at most 1,000 characters',
  'server/src/catalog/built-in/web/phones.ts': 'a number of at most 24 characters',
  'server/src/catalog/built-in/web/postal-address.ts': 'at most 2,000 characters',
  'server/src/catalog/configuration/reference-hints.ts': 'at most 600 characters',
  'server/src/catalog/models/model-failures.ts': 'a header that another expression has checked',
  'server/src/catalog/values/full-name.ts': 'at most 1,000 characters',
  'server/src/database/backup/archive.ts': 'a header of 512 bytes',
  'server/src/files/reading/xlsx-values.ts': 'a number of 20 digits',
  'server/src/lib/json/lossless-json.ts': 'a number, which has one exponent',
  'server/src/sources/systems/website/page-tasks.ts': 'labels of links, in a reader',
}

/** The parts that are repeated. Further ones come from the literal characters of the expression. */
const PARTS = [' ', 'a', '1', 'A', '.', '/', 'a.', '1.', 'a ', '\n']
/** The lengths that are tried while each takes longer than its time. A linear expression takes less than 1 ms. */
const LENGTHS: [length: number, ms: number][] = [
  [300, 0.2],
  [2400, 2],
  [9600, 40],
]
const SLOW_MS = 40

/** Matches a regular expression where the code may have one. */
const LITERAL =
  /(?<=[=(,:?&|[!{>]\s*|\breturn\s+|^\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[dgimsuvy]*/gm

it('I3: no regular expression takes more than linear time on a text of a tenant', () => {
  const files = globSync(['server/src/**/*.ts', 'contract/**/*.ts']).filter(
    (path) => !/\.test\.ts$|\/testing\/|\/documentation\//.test(path),
  )
  const slow = files.flatMap((path) =>
    literalsIn(path).flatMap((literal) => {
      const text = slowText(literal)
      return text === undefined ? [] : [{ path, literal, text }]
    }),
  )
  expect(slow.filter(({ path }) => BOUNDED[path] === undefined)).toEqual([])
}, 60_000)

function literalsIn(path: string): string[] {
  const code = readFileSync(path, 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const found = new Set(code.match(LITERAL) ?? [])
  // Without a repetition the time is bounded by the expression.
  return [...found].filter((literal) => /[*+]|\{\d*,\d*\}/.test(literal))
}

/** Returns a description of a text on which the expression is slow, or undefined. */
function slowText(literal: string): string | undefined {
  const end = literal.lastIndexOf('/')
  const pattern = new RegExp(literal.slice(1, end), `${literal.slice(end + 1).replace('g', '')}g`)
  const sample = sampleOf(literal.slice(1, end))
  const starts = new Set(
    Array.from({ length: Math.min(sample.length, 20) + 1 }, (_, n) => sample.slice(0, n)),
  )
  const words = sample.match(/\w+ ?|\W/g) ?? []
  const parts = new Set([...PARTS, ...sample.split(''), ...words])
  for (const start of starts) {
    for (const part of parts) {
      if (part === '') continue
      for (const rest of ['\u0007', 'zz', ' x', '!\n!']) {
        const times: number[] = []
        const isSlow = LENGTHS.every(([length, ms], n) => {
          const last = times[n - 1] ?? 0
          // An expression of cubic time would take hours for the longest text.
          if (last > SLOW_MS) return true
          const text = start + part.repeat(length / part.length) + rest
          const before = process.threadCpuUsage()
          for (const match of text.matchAll(pattern)) if (match[0] === '') break
          times[n] = process.threadCpuUsage(before).user / 1000
          return times[n] > ms
        })
        if (isSlow) return JSON.stringify([start, part, rest])
      }
    }
  }
  return undefined
}

/** Returns about the text that an expression describes, without its groups, classes and repetitions. */
function sampleOf(pattern: string): string {
  return pattern
    .replaceAll(/\\u\{?([0-9a-fA-F]{4})\}?/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll(/\\[pP]\{(\w)[^}]*\}/g, (_, kind: string) => (kind === 'N' ? '1' : 'a'))
    .replaceAll(/\[(\^?)((?:\\.|[^\]\\])*)\]/g, (_, negated: string, inside: string) =>
      negated === '' ? sampleOf(inside.slice(0, inside.startsWith('\\') ? 2 : 1)) : 'a',
    )
    .replaceAll(/\(\?(?:[:=!]|<[=!]|<\w+>)|\{\d*,?\d*\}|(?<!\\)[()^$|?*+]/g, '')
    .replaceAll(/\\([sdwDSWbBn])/g, (_, kind: string) =>
      kind === 's' || kind === 'W'
        ? ' '
        : kind === 'd'
          ? '1'
          : kind === 'n'
            ? '\n'
            : /b/i.test(kind)
              ? ''
              : 'a',
    )
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/(?<!\w)\./g, '.')
}

it('I3: texts are put into normal forms and compared by lib/plain-text.ts only', () => {
  const found = globSync('server/src/**/*.ts')
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
    .filter((path) => /\.normalize\('|\.localeCompare\(/.test(readFileSync(path, 'utf8')))
  expect(found).toEqual([])
})
