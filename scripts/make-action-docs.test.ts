import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { printActionDocs } from './make-action-docs.ts'

it('docs/actions.md matches the definitions; otherwise run npm run docs', async () => {
  const catalogue = await loadCatalogue()
  const written = readFileSync(new URL('../docs/actions.md', import.meta.url), 'utf8')
  expect(written).toBe(printActionDocs(catalogue.list()))
})
