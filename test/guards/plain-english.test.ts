import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const FOLDERS = ['contract', 'server', 'cli', 'dashboard', 'scripts', 'test', 'bench']

/** Words that open a sentence without a subject, or with a verb that has none. */
const OPENINGS = new Set(
  `
  After Aborted Added Also Among Answers Anything As Asked At Because Before Besides Beyond By Called Even Everybody Everything False Fewer For
  From Given Has How However If In Instead It Its Kept Left Long Longer Made More Named Neither Never No Nobody None Not Nothing Of On Once Only
  Other Others Present Refused Rather Shown Since So Some Somebody Something Stored Such Than That There They This Those To Told True Undefined
  Null Until Unless Up What Whatever When Where Whether Which While Who Whoever Whom Whose Why With Within Without Yet
  `
    .split(/\s+/)
    .filter(Boolean),
)

type Opening = { line: number; words: string }

/** Finds the doc comments that open with one of these words. */
function findOpenings(text: string): Opening[] {
  return [...text.matchAll(/\/\*\*\s*(?:\n\s*\*\s*)?([A-Za-z']+)([^\n]*)/g)].flatMap(
    ({ 1: first = '', 2: rest = '', index }) =>
      OPENINGS.has(first)
        ? [{ line: text.slice(0, index).split('\n').length, words: `${first}${rest.slice(0, 60)}` }]
        : [],
  )
}

const files = FOLDERS.flatMap((folder) =>
  globSync(`${folder}/**/*.{ts,tsx,mts,mjs}`, { exclude: (name) => name === 'node_modules' }),
).sort()

describe('doc comments begin with a verb or a noun phrase', () => {
  it('in the whole source', () => {
    const found = files.flatMap((file) =>
      findOpenings(readFileSync(file, 'utf8')).map(({ line, words }) => `${file}:${line} ${words}`),
    )
    expect(found).toEqual([])
  })

  it('finds an opening on the first line and on the next', () => {
    // The escapes keep this example from being found in this file.
    const text = '/\x2a* What it is. */\n/\x2a*\n * Whose it is.\n */\n/** Returns it. */'
    expect(findOpenings(text)).toEqual([
      { line: 1, words: 'What it is. */' },
      { line: 2, words: 'Whose it is.' },
    ])
  })
})
