import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '#server/lib/config/config.ts'

const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')].filter(
  (path) => existsSync(path),
)
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))

const TOP = /^(contract|server|cli|test|bench|scripts|docs|dashboard|sdk|mcp|\.ci)\//
const FILE = /^[\w.@-]+(\/[\w.@*<>-]+)*\.(ts|mjs|json|md|sql)$/

type Cited = { line: number; text: string }

/** What stands in backticks, fenced blocks included, word by word. */
function codeWords(document: string): Cited[] {
  let fenced = false
  return document.split('\n').flatMap((text, at) => {
    const fence = /^\s*```/.test(text)
    if (fence) fenced = !fenced
    const spans = fenced ? [text] : [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
    return fence
      ? []
      : spans
          .flatMap((code) => code.split(/[\s,;()]+/))
          .map((word) => ({ line: at + 1, text: word.replace(/[.:]+$/, '') }))
  })
}

const isRepositoryPath = (text: string) => TOP.test(text) || FILE.test(text)

const everyName = new Set(
  globSync('**/*.*', { exclude: (name) => /^(node_modules|data|\.git)$/.test(name) }).map((path) =>
    basename(path),
  ),
)

/** A bare name may lie anywhere. A placeholder as `<name>` stands for what is yet to come: only its folder has to exist. */
function exists(path: string): boolean {
  if (!path.includes('/')) return everyName.has(path)
  if (path.includes('<')) return existsSync(dirname(path.slice(0, path.indexOf('<') + 1)))
  return path.includes('*') ? globSync(path).length > 0 : existsSync(path)
}

const deadPaths = (document: string) =>
  codeWords(document)
    .filter(({ text }) => isRepositoryPath(text) && !exists(text))
    .map(({ line, text }) => `line ${line}: ${text}`)

const deadLinks = (document: string, folder: string) =>
  [...document.matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)"\s#]+)(?:#[^)]*)?[)"]/g)].flatMap(([, target = '']) =>
    /^[a-z]+:/.test(target) || existsSync(join(folder, target)) ? [] : [target],
  )

const unknownScripts = (document: string) =>
  [...document.matchAll(/\bnpm run ([\w:-]+)/g)].flatMap(([, name = '']) =>
    Object.hasOwn(scripts, name) ? [] : [name],
  )

/** The names in the first cell of each row that starts with one. */
const settingsOf = (document: string) =>
  [...document.matchAll(/^\|(\s*`[A-Z][A-Z0-9_]*`[^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )

describe.each(documents)('%s', (path) => {
  const document = readFileSync(path, 'utf8')

  it('cites only paths that exist', () => {
    expect(deadPaths(document)).toEqual([])
  })

  it('links only to files that exist', () => {
    expect(deadLinks(document, dirname(path))).toEqual([])
  })

  it('names only npm scripts that exist', () => {
    expect(unknownScripts(document)).toEqual([])
  })
})

it.runIf(existsSync('README.md'))("D55: the README's table lists every setting, and no other", () => {
  expect(settingsOf(readFileSync('README.md', 'utf8')).sort()).toEqual(Object.keys(SETTINGS).sort())
})

describe('these checks', () => {
  const document = [
    'See `server/src/main.ts`, `contract/<resource>.ts`, `server/src/database/migrations/*.sql` and `server/src/gone.ts`.',
    'Not paths: `POST /user/knowledge`, `a/b`, `application/json`, `D55`, `new,old`, `server`. Bare: `package.json`, `harness.ts`, `gone.json`.',
    '```',
    'node bench/gone.ts --cold',
    '```',
    '<img src="test/plumbing/harness.ts"> <source srcset="gone.png"> [here](test/plumbing/harness.ts#top) [there](gone.md) [web](https://example.com/gone.md) `npm run test` `npm run gone:too`',
    '| `HOST`, `PORT` | `127.0.0.1`, 8787 |',
    '| LOAM_X | `LOAM_Y` |',
  ].join('\n')

  it('find what does not exist', () => {
    expect(deadPaths(document)).toEqual([
      'line 1: server/src/gone.ts',
      'line 2: gone.json',
      'line 4: bench/gone.ts',
    ])
    expect(deadLinks(document, '.')).toEqual(['gone.png', 'gone.md'])
    expect(unknownScripts(document)).toEqual(['gone:too'])
    expect(settingsOf(document)).toEqual(['HOST', 'PORT'])
  })
})
