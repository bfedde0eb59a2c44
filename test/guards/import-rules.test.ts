import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AREAS, findCycles, findOffences, importable, parseImports } from './import-areas.ts'

const files = Object.fromEntries(
  globSync('**/*.{ts,tsx}', { exclude: (name) => /^(node_modules|data|\..+)$/.test(name) })
    .sort()
    .map((file) => [file, readFileSync(file, 'utf8')]),
)

describe('the imports of this repository', () => {
  it('go strictly downward', () => {
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(['contract/errors.ts', 'server/src/main.ts', 'cli/main.ts']),
    )
    expect(findOffences(files)).toEqual([])
  })

  it('have no cycle, not even within a folder', () => {
    expect(findCycles(files)).toEqual([])
  })

  it('have no cycle of types either', () => {
    expect(findCycles(files, ['value', 'type'])).toEqual([])
  })
})

describe('these rules', () => {
  it('go downward themselves: an area may import only areas that the table lists before it', () => {
    const order = Object.keys(AREAS)
    const upward = order.flatMap((area, at) =>
      importable(area).filter((other) => !order.slice(0, at).includes(other)),
    )
    expect(upward).toEqual([])
  })

  it('see every form of import, with its line', () => {
    const text = [
      `import './a.ts'`,
      `import b from './b.ts'`,
      `import * as c from "./c.ts"`,
      `import type { D } from './d.ts'`,
      `import { e, type E } from './e.ts'`,
      `import {\n  f,\n  g as h,\n} from './f.ts'`,
      `export * from './g.ts'`,
      `export type { H } from './h.ts'`,
      `export const text = 'no import from "./x.ts"'`,
      `// import x from './x.ts'`,
      `const load = () => import('./i.ts')`,
      `export function read(): string {\n  return 'from ./x.ts'\n}`,
    ].join('\n')
    expect(parseImports(text).map(({ line, target, kind }) => `${line} ${target} ${kind}`)).toEqual([
      '1 ./a.ts value',
      '2 ./b.ts value',
      '3 ./c.ts value',
      '4 ./d.ts type',
      '5 ./e.ts value',
      '9 ./f.ts value',
      '10 ./g.ts value',
      '11 ./h.ts type',
      '14 ./i.ts lazy',
    ])
  })

  it.each([
    ['contract/a.ts', `import { x } from '#server/lib/x.ts'`, 'imports server/src/lib/x.ts (lib)'],
    ['contract/a.ts', `import pg from 'pg'`, 'imports the package pg'],
    [
      'server/src/lib/a.ts',
      `import type { X } from '../database/x.ts'`,
      'imports server/src/database/x.ts (database)',
    ],
    [
      'server/src/database/a.ts',
      `import { x } from '../organisation/x.ts'`,
      'imports server/src/organisation/x.ts (organisation)',
    ],
    [
      'server/src/catalog/actions/a.ts',
      `import { x } from '../../database/x.ts'`,
      'imports server/src/database/x.ts (database)',
    ],
    [
      'server/src/catalog/provider/a.ts',
      `import type { X } from '../define.ts'`,
      'imports server/src/catalog/define.ts (catalog/define.ts)',
    ],
    ['server/src/catalog/elsewhere.ts', '', 'is in no area of the table'],
    [
      'server/src/organisation/a.ts',
      `import { x } from '../api/app.ts'`,
      'imports server/src/api/app.ts (app)',
    ],
    ['server/src/api/a.ts', `import { x } from '../main.ts'`, 'imports server/src/main.ts (main)'],
    ['cli/commands/key.ts', `import { x } from '#server/main.ts'`, 'imports server/src/main.ts (main)'],
    [
      'cli/commands/key.ts',
      `const x = await import('#server/api/app.ts')`,
      'imports server/src/api/app.ts (app)',
    ],
    [
      'server/src/lib/a.ts',
      `import { x } from '#test/plumbing/harness.ts'`,
      'imports test code: test/plumbing/harness.ts',
    ],
    ['server/src/elsewhere/a.ts', '', 'is in no area of the table'],
  ])('find in %s: %s', (file, text, offence) => {
    expect(findOffences({ [file]: text })).toEqual([expect.stringContaining(offence)])
  })

  it.each([
    ['contract/a.ts', `import { z } from 'zod'\nimport { B } from './b.ts'`],
    ['server/src/process/server.ts', `import { createApp } from '../api/app.ts'`],
    ['cli/commands/serve.ts', `import { serve } from '#server/main.ts'\nimport { x } from '../flags.ts'`],
    ['server/src/lib/a.test.ts', `import { makeApp } from '#test/plumbing/harness.ts'`],
  ])('accept in %s: %s', (file, text) => {
    expect(findOffences({ [file]: text })).toEqual([])
  })

  it('find a cycle, and none where types alone close it', () => {
    const cyclic = {
      'a.ts': `import './b.ts'`,
      'b.ts': `\nimport { c } from './c.ts'`,
      'c.ts': `import { type A } from './a.ts'`,
    }
    expect(findCycles(cyclic)).toEqual(['a.ts:1 -> b.ts:2 -> c.ts:1 -> a.ts'])
    const byType = { ...cyclic, 'c.ts': `import type { A } from './a.ts'` }
    expect(findCycles(byType)).toEqual([])
    expect(findCycles(byType, ['value', 'type'])).toEqual(['a.ts:1 -> b.ts:2 -> c.ts:1 -> a.ts'])
  })
})
