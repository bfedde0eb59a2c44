import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const FOLDERS = ['contract', 'server', 'cli', 'dashboard', 'sdk', 'scripts', 'test', 'bench']

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
)
  // Its comments are the descriptions of the contract.
  .filter((file) => file !== 'sdk/src/wire.ts')
  .sort()

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

type Metaphor = {
  word: RegExp
  rather: string
  /** Set while the word is still being replaced in runs/engine and money: it is not checked yet. */
  isPending?: true
}

/** Words of old metaphors, and riddles that users saw, with what is written instead. */
const METAPHORS: readonly Metaphor[] = [
  { word: /foresight/i, rather: 'speculative read, forecast' },
  { word: /\bwhoever\b/i, rather: 'the noun: the caller, the worker, the transaction' },
  { word: /\bbef(?:a|e)ll/i, rather: 'happens to' },
  { word: /\banew\b/i, rather: 'again, from the beginning' },
  { word: /\bnames? nothing\b/i, rather: 'does not exist, is unknown' },
  { word: /\btime after time\b/i, rather: 'keeps failing' },
  { word: /\bsurroundings\b/i, rather: 'environment, context' },
  { word: /\bwhat (?:is|was) said of\b/i, rather: 'statements about' },
  { word: /\bwhat bears on\b/i, rather: 'limits that affect' },
  { word: /\bdeliver again who\b/i, rather: 'Re-deliver members that return' },
  { word: /\btell a program\b/i, rather: 'Webhook URL' },
  { word: /purse/i, rather: 'limit', isPending: true },
  { word: /\bin[ -]the[ -]air\b/i, rather: 'in flight' },
  { word: /\blaunch(?:e[sd]|ing|Rows)?\b/i, rather: 'enqueue', isPending: true },
  { word: /\bland(?:ed|ing)\b/i, rather: 'finish, finished', isPending: true },
  { word: /\bfold(?:s|ed|ing|Charges)?\b/, rather: 'post', isPending: true },
  { word: /\b(?:take|giveBack|end|attach)Hold\b/, rather: 'reservation' },
]

/** Finds lines with one of these words. */
const findWords = (text: string) =>
  text.split('\n').flatMap((line, at) => {
    const found = METAPHORS.find(({ word, isPending }) => isPending !== true && word.test(line))
    return found === undefined ? [] : [`${at + 1}: ${found.rather}, rather than: ${line.trim().slice(0, 80)}`]
  })

describe('old metaphors', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', '{server,dashboard,sdk}/**/README.md'], {
    exclude: (name) => name === 'node_modules',
  }).filter((page) => page !== 'CHANGELOG.md')
  const texts = [...files.filter((file) => file !== 'test/guards/plain-english.test.ts'), ...pages]

  it('are in no file', () => {
    const found = texts.flatMap((file) =>
      findWords(readFileSync(file, 'utf8')).map((line) => `${file}:${line}`),
    )
    expect(found).toEqual([])
  })

  it('are found in any case', () => {
    const text = 'one line\nWhoever comes, begins anew\nA Foresight\nrenewed'
    expect(findWords(text)).toEqual([
      '2: the noun: the caller, the worker, the transaction, rather than: Whoever comes, begins anew',
      '3: speculative read, forecast, rather than: A Foresight',
    ])
  })
})
