import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadProviders } from './registry.ts'

const providers = await loadProviders()

it('every folder of a provider is one, and its id can be the end of a setting (D57)', () => {
  const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('built_in'))
    .map(({ name }) => name)
  expect(providers.map(({ id }) => id)).toEqual(folders.sort())
  expect(folders.filter((id) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(id))).toEqual([])
})

it('no two have the same name', () => {
  const names = providers.map(({ name }) => name.toLowerCase())
  expect(new Set(names).size).toBe(names.length)
})
