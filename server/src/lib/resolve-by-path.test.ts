import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { placeOf } from './resolve-by-path.ts'

const root = new URL('../../../', import.meta.url).href
const own = (path: string) => ({ url: `${root}${path}`, format: 'module-typescript' })

it.each<[specifier: string, parent: string, place: object | undefined]>([
  ['./lib/log.ts', 'server/src/process/server.ts', own('server/src/lib/log.ts')],
  ['../main.ts', 'server/src/lib/log.ts', own('server/src/main.ts')],
  ['#contract/rows.ts', 'server/src/process/server.ts', own('contract/rows.ts')],
  ['#server/lib/log.ts', 'test/plumbing/harness.ts', own('server/src/lib/log.ts')],
  [
    `${root}server/src/catalog/actions/delay_step.ts`,
    'server/src/catalog/registry.ts',
    own('server/src/catalog/actions/delay_step.ts'),
  ],
  ['./a.js', 'node_modules/zod/v4/index.js', { url: `${root}node_modules/zod/v4/a.js`, format: 'module' }],
  ['zod', 'server/src/process/server.ts', undefined],
  ['node:fs', 'server/src/process/server.ts', undefined],
  ['./settings.json', 'server/src/process/server.ts', undefined],
  ['./a.js', 'node_modules/fastify/fastify.js', undefined],
  ['kysely', 'node_modules/zod/v4/index.js', undefined],
])('%s in %s is found by its name, or looked for', (specifier, parent, place) => {
  expect(placeOf(specifier, `${root}${parent}`)).toEqual(place)
})

it('what belongs to another folder is looked for', () => {
  expect(placeOf('./a.ts', 'file:///elsewhere/b.ts')).toBeUndefined()
})

it('names within the project lead where package.json says', () => {
  const { imports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    imports: Record<string, string>
  }
  for (const [name, path] of Object.entries(imports)) {
    const file = name.replace('*', 'a/b.ts')
    expect(placeOf(file, `${root}server/src/main.ts`)).toEqual(own(path.replace('*', 'a/b.ts').slice(2)))
  }
})
