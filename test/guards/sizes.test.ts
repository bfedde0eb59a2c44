import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'

const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = 80
const MAX_PARAMETERS = 4
const MAX_NESTING = 4

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const LEVELS = new Set([
  'IfStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'TryStatement',
  'SwitchStatement',
])

const texts = new Map(
  globSync('{server,contract,cli,dashboard,scripts,sdk}/**/*.{ts,tsx,mjs}', {
    exclude: (path) => /(^|\/)(node_modules|dist[^/]*)$/.test(path),
  })
    // A generated file, which nobody reads from end to end.
    .filter((file) => file !== 'sdk/src/wire.ts')
    .map((file) => [file, readFileSync(file, 'utf8')]),
)

const countLines = (text: string) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

type Node = {
  type: string
  start: number
  end: number
  id?: { name?: string }
  key?: { name?: string }
  params?: unknown[]
  body?: { type?: string }
  alternate?: unknown
}
const isNode = (part: unknown): part is Node =>
  typeof part === 'object' && part !== null && 'type' in part && 'start' in part

type Found = { long: string[]; manyParameters: string[]; deep: string[] }

/**
 * Returns the functions that have too many lines or parameters, or too deep a nesting, by their own names or the nearest
 * names around them. A level of nesting is an `if` with all its `else if`, a loop, a `try`, a `switch`, and the body of a
 * function within a function, with or without braces. The body of the outermost function is not a level.
 */
function findUnreadable(file: string, text: string): Found {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const long = new Set<string>()
  const manyParameters = new Set<string>()
  const deep = new Set<string>()

  const visit = (part: unknown, around: string, depth: number): void => {
    if (Array.isArray(part)) for (const one of part) visit(one, around, depth)
    if (!isNode(part)) return
    const name = part.id?.name ?? part.key?.name ?? around
    const isFunction = FUNCTIONS.has(part.type)
    if (isFunction) {
      if (countLines(text.slice(part.start, part.end)) > MAX_FUNCTION_LINES) long.add(`${file} ${name}`)
      if ((part.params?.length ?? 0) > MAX_PARAMETERS) manyParameters.add(`${file} ${name}`)
    }
    const isLevel = LEVELS.has(part.type) || (isFunction && part.body?.type === 'BlockStatement')
    const inside = depth + (isLevel ? 1 : 0)
    // The outermost function is the first level that is counted here.
    if (isLevel && inside > MAX_NESTING + 1) deep.add(`${file} ${name}`)
    for (const [key, inner] of Object.entries(part)) {
      const isElseIf = key === 'alternate' && isNode(inner) && inner.type === 'IfStatement'
      visit(inner, name, isElseIf ? depth : inside)
    }
  }
  visit(program, 'a function without a name', 0)
  return { long: [...long], manyParameters: [...manyParameters], deep: [...deep] }
}

describe('code can be read in one go', () => {
  it(`a file has at most ${MAX_FILE_LINES} lines`, () => {
    expect(texts.size).toBeGreaterThan(1000)
    const long = [...texts].flatMap(([file, text]) => (countLines(text) > MAX_FILE_LINES ? [file] : []))
    expect(long.toSorted()).toEqual([])
  })

  // Tests are lists of cases, and a case of a table has a parameter for each column.
  const all = [...texts].filter(([file]) => !file.endsWith('.test.ts'))
  const found = all.map(([file, text]) => findUnreadable(file, text))

  it(`a function has at most ${MAX_FUNCTION_LINES} lines, except in tests`, () => {
    expect(found.flatMap(({ long }) => long).toSorted()).toEqual([])
  })

  it(`a function has at most ${MAX_PARAMETERS} parameters, except in tests`, () => {
    expect(found.flatMap(({ manyParameters }) => manyParameters).toSorted()).toEqual([])
  })

  it(`a function nests at most ${MAX_NESTING} levels deep, except in tests`, () => {
    expect(found.flatMap(({ deep }) => deep).toSorted()).toEqual([])
  })

  it.each([
    ['a declaration', (body: string) => `export async function long() {\n${body}}`],
    ['an arrow', (body: string) => `const long = () => {\n${body}}`],
    ['a method', (body: string) => `class Holder {\n  long() {\n${body}}\n}`],
    ['a function within a short one', (body: string) => `const long = wrap(() => {\n${body}})`],
  ])('the length of %s is seen', (_what, write) => {
    expect(findUnreadable('a.ts', write('  step()\n'.repeat(79))).long).toEqual(['a.ts long'])
    expect(findUnreadable('a.ts', write('  step()\n'.repeat(78))).long).toEqual([])
  })

  it('the number of parameters is seen', () => {
    expect(findUnreadable('a.ts', 'function many(a, b, c, d, e) {}').manyParameters).toEqual(['a.ts many'])
    expect(findUnreadable('a.ts', 'const few = (a, b, c, ...d) => a').manyParameters).toEqual([])
  })

  it.each([
    ['loops and conditions', (inner: string) => `for (;;) if (a) while (b) { try { ${inner} } finally {} }`],
    ['callbacks', (inner: string) => `list.map(() => { for (;;) switch (a) { case 1: if (b) ${inner} } })`],
    ['else', (inner: string) => `if (a) {} else if (b) {} else { for (;;) for (;;) for (;;) ${inner} }`],
  ])('the nesting of %s is seen', (_what, write) => {
    const nest = (inner: string) => findUnreadable('a.ts', `function deep() { ${write(inner)} }`).deep
    expect(nest('if (c) step()')).toEqual(['a.ts deep'])
    expect(nest('step(() => 1)')).toEqual([])
  })
})
