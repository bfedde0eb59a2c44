import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { printReferenceDocs } from './make-reference-docs.ts'

it('docs/reference matches the program: npm run docs', async () => {
  const pages = await printReferenceDocs()
  expect(readdirSync('docs/reference').sort()).toEqual(Object.keys(pages).sort())
  for (const [name, text] of Object.entries(pages)) {
    expect(readFileSync(`docs/reference/${name}`, 'utf8')).toBe(text)
  }
})
