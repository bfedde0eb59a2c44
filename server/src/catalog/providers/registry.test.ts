import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listSamples, USUAL_SUBJECT } from '../waterfalls/samples.ts'
import { loadAdapters, loadProviders } from './registry.ts'

const providers = await loadProviders()
/** The providers without a known call that is free and tells a good key from a bad one. */
const UNPROBED = ['anymailfinder', 'bettercontact', 'icypeas', 'parallel', 'perplexity', 'searxng']

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

it('provider check has one question for every adapter, and a probe for every provider that has one', async () => {
  const person = { fullName: 'Ann Lee', linkedinUrl: 'https://www.linkedin.com/in/ann-lee' }
  const sampled = listSamples({ ...USUAL_SUBJECT, person }, new Date()).map(
    ({ provider, question }) => `${provider.id}/${question}`,
  )
  const adapters = await loadAdapters()
  const all = adapters.map(({ provider, question }) => `${provider.id}/${question}`)
  expect(sampled.toSorted()).toEqual([...new Set(all)].toSorted())
  const unprobed = adapters
    .filter(({ provider }) => provider.probe === null)
    .map(({ provider }) => provider.id)
  expect([...new Set(unprobed)].toSorted()).toEqual(UNPROBED)
})
