import { expect, it } from 'vitest'
import { loadCatalogue } from '../registry.ts'
import { priceOf } from './cell-price.ts'

const catalogue = await loadCatalogue()
const action = catalogue.get('ai_generate')
if (action === undefined) throw new Error('ai_generate is not in the catalogue')

it.each<[string, Record<string, string>, number, number]>([
  ['the only connection to its vendor', { model: 'openai/gpt' }, 0, 1],
  ['a connection by its name', { model: 'any', connection: 'Mine' }, 0, 1],
  ['a connection that is not there', { model: 'openai/gpt', connection: 'Theirs' }, 1, 0],
  ['a vendor without a connection', { model: 'anthropic/claude' }, 1, 0],
  ['a model of the installation', { model: 'llama' }, 1, 0],
  ['a connection that the row names', { model: 'openai/gpt', connection: '{{input.connection}}' }, 1, 0],
])('M1: a model on %s', (_what, inputs, atMost, saved) => {
  const environment = {
    envKeys: new Set<string>(),
    connectionsOf: (provider: string, name?: string) =>
      provider === 'openai' && (name === undefined || name === 'Mine') ? 1 : 0,
    hasKey: () => true,
    hasAddress: () => true,
  }
  const price = priceOf(action, { inputs }, environment)
  expect([price.atMost, price.ownKeyOnly, price.ownCredits]).toEqual([atMost, atMost === 0, saved])
})
