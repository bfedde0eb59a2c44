import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '#server/lib/config/config.ts'

const rooms = globSync('{server,dashboard,sdk,test,bench,cli}/**/README.md', {
  exclude: (name) => name === 'node_modules',
})
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/**/*.md'),
  ...rooms,
].filter((path) => existsSync(path))
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))

const TOP = /^(contract|server|cli|test|bench|scripts|docs|dashboard|sdk|mcp|\.ci)\//
const FILE = /^[\w.@-]+(\/[\w.@*<>-]+)*\.(ts|mjs|json|md|sql)$/

type Cited = { line: number; text: string }

/** Returns the words in backticks and fenced blocks. */
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

/**
 * Returns true for a path from the root or from the document's folder. A bare name may be anywhere. A
 * placeholder such as `<name>` stands for a future file: only its folder has to exist.
 */
function exists(path: string, folder: string): boolean {
  if (!path.includes('/')) return everyName.has(path)
  return [path, join(folder, path)].some((from) => {
    if (from.includes('<')) return existsSync(dirname(from.slice(0, from.indexOf('<') + 1)))
    return from.includes('*') ? globSync(from).length > 0 : existsSync(from)
  })
}

const deadPaths = (document: string, folder: string) =>
  codeWords(document)
    .filter(({ text }) => isRepositoryPath(text) && !exists(text, folder))
    .map(({ line, text }) => `line ${line}: ${text}`)

const deadLinks = (document: string, folder: string) =>
  [...document.matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)"\s#]+)(?:#[^)]*)?[)"]/g)].flatMap(([, target = '']) =>
    /^[a-z]+:/.test(target) || existsSync(join(folder, target)) ? [] : [target],
  )

const unknownScripts = (document: string) =>
  [...document.matchAll(/\bnpm run ([\w:-]+)/g)].flatMap(([, name = '']) =>
    Object.hasOwn(scripts, name) ? [] : [name],
  )

/** Returns the names in the first cell of each row that starts with one. */
const listSettings = (document: string) =>
  [...document.matchAll(/^\|(\s*`[A-Z][A-Z0-9_]*`[^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )

describe.each(documents)('%s', (path) => {
  const document = readFileSync(path, 'utf8')

  it('cites only paths that exist', () => {
    expect(deadPaths(document, dirname(path))).toEqual([])
  })

  it('links only to files that exist', () => {
    expect(deadLinks(document, dirname(path))).toEqual([])
  })

  it('names only npm scripts that exist', () => {
    expect(unknownScripts(document)).toEqual([])
  })
})

it('D55: the page of settings, to which the README links, lists every setting and no other', () => {
  expect(readFileSync('README.md', 'utf8')).toContain('](docs/reference/settings.md)')
  expect(listSettings(readFileSync('docs/reference/settings.md', 'utf8')).sort()).toEqual(
    Object.keys(SETTINGS).sort(),
  )
})

describe('a newcomer reads to the end', () => {
  const sizeOf = (path: string) => Buffer.byteLength(readFileSync(path, 'utf8'))

  it.each([
    ['README.md', 8 * 1024],
    ['CONTRIBUTING.md', 6 * 1024],
  ])('%s, of at most %i bytes', (path, most) => {
    expect(sizeOf(path)).toBeLessThanOrEqual(most)
  })

  it('ARCHITECTURE.md, of at most 1,500 words, 14 rooms and 40 words in the glossary', () => {
    const text = readFileSync('ARCHITECTURE.md', 'utf8')
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(1500)
    const glossary = text.slice(text.indexOf('## Glossary'))
    expect(glossary.match(/^\| /gm)?.length).toBeLessThanOrEqual(41)
    const folders = globSync('server/src/*/').map((path) => basename(path))
    expect(folders.length).toBeLessThanOrEqual(14)
    for (const folder of folders) expect(text).toContain(`\`${folder}/\``)
  })

  it.each(rooms.filter((path) => path.startsWith('server/')))('%s, of at most 80 lines', (path) => {
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThanOrEqual(81)
  })
})

describe('ARCHITECTURE.md', () => {
  const text = readFileSync('ARCHITECTURE.md', 'utf8')
  const sectionOf = (title: string) => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const pathsIn = (part: string) =>
    [...part.matchAll(/`([^`\s]+)`/g)].flatMap(([, path = '']) => (TOP.test(path) ? [path] : []))
  const rows = sectionOf('To change something, open')
    .split('\n')
    .flatMap((line) => {
      const [, change = '', count = '', where = ''] = line.split('|').map((cell) => cell.trim())
      return /^\d+$/.test(count) ? [{ change, count: Number(count), paths: pathsIn(where) }] : []
    })

  it.each(rows)('$change: $count files', ({ count, paths }) => expect(paths).toHaveLength(count))

  it.each([
    ['an operator of filters', "'contains any of'", 'server/src', []],
    ['an operator of conditions', "'is before'", 'server/src', []],
    [
      'a stored field of a cell, in addition',
      'learns',
      'server/src/runs',
      // The rules that set and read this field.
      ['server/src/runs/engine/cells/cell.ts'],
    ],
  ])('%s: every file with an example of it is listed', (change, example, folder, others) => {
    const listed = rows.find((row) => row.change === change)?.paths ?? []
    const found = globSync(`{contract,${folder},dashboard/src}/**/*.{ts,tsx}`)
      .filter((path) => !path.includes('.test.'))
      .filter((path) => readFileSync(path, 'utf8').includes(example))
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter((path) => !listed.includes(path) && !others.includes(path))).toEqual([])
  })

  const readFiles = (title: string) => pathsIn(sectionOf(title)).filter((path) => path.endsWith('.ts'))

  it('one request reads in at most 20 files, one cell in at most 8', () => {
    expect([readFiles('One request').length, readFiles('One cell').length]).toEqual([20, 8])
  })

  it('each file of a request is called by one before it', () => {
    const [first, ...later] = readFiles('One request')
    const before = [first ?? '']
    for (const path of later) {
      const name = basename(path)
      expect(
        before.filter((file) => readFileSync(file, 'utf8').includes(`/${name}'`)),
        path,
      ).not.toEqual([])
      before.push(path)
    }
  })
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
    expect(deadPaths(document, '.')).toEqual([
      'line 1: server/src/gone.ts',
      'line 2: gone.json',
      'line 4: bench/gone.ts',
    ])
    expect(deadLinks(document, '.')).toEqual(['gone.png', 'gone.md'])
    expect(unknownScripts(document)).toEqual(['gone:too'])
    expect(listSettings(document)).toEqual(['HOST', 'PORT'])
  })
})
