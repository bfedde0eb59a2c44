import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import { renewProviderDocs } from './make-provider-docs.ts'

it('the tables of docs/providers.md match the providers: npm run docs', async () => {
  const written = readFileSync(new URL('../docs/providers.md', import.meta.url), 'utf8')
  expect(written).toBe(await renewProviderDocs(written))
})

it('every provider names the source and date of its format', async () => {
  const silent = (await loadProviders()).filter(
    ({ evidence, isBuiltIn }) => !isBuiltIn && !/\b20\d\d(-\d\d-\d\d)?$/.test(evidence),
  )
  expect(silent.map(({ id }) => id)).toEqual([])
})
