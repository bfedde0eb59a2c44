import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../lib/config/config.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { createKey } from '../provider/access.ts'
import { createModels, creditsOf, offeredModels } from './models.ts'

const egress = createEgress({ allow: [] })
afterAll(() => egress.close())

const BASE = { LOAM_MODEL_BASE_URL: 'http://models.internal:8000/v1/' }

async function find(
  name: string,
  env: Record<string, string>,
  connected: string[] = [],
  connection?: string,
) {
  const models = createModels(readConfig(env))
  const own = async (provider: string, named?: string) =>
    connected.includes(named === undefined ? provider : `${provider} ${named}`)
      ? createKey('connection-1', { secret: 'own' })
      : null
  try {
    const found = await models.find(name, { keys: { platform: () => null, own }, egress }, connection)
    return found.ok
      ? [found.model.bucket, found.model.api, found.model.apiKey, found.model.ownKey]
      : found.message
  } finally {
    await models.close()
  }
}

describe('the key and server of a model', () => {
  const platform = 'model:platform'
  it.each<[string, string, Record<string, string>, string[], unknown]>([
    [
      'the model server',
      'small',
      { ...BASE, LOAM_MODEL_API_KEY: 'k' },
      [],
      [`${platform}:small`, 'openai_compatible', 'k', false],
    ],
    [
      'a server without a key',
      'a/b',
      BASE,
      ['openai'],
      [`${platform}:a/b`, 'openai_compatible', undefined, false],
    ],
    [
      'Anthropic by D66',
      'anthropic/c',
      { LOAM_PROVIDER_KEY_ANTHROPIC: 'k' },
      [],
      [`${platform}:anthropic/c`, 'anthropic', 'k', false],
    ],
    [
      'OpenAI by D66',
      'openai/g',
      { LOAM_PROVIDER_KEY_OPENAI: 'k' },
      [],
      [`${platform}:openai/g`, 'openai_compatible', 'k', false],
    ],
    [
      'a server that has models of others',
      'anthropic/c',
      BASE,
      [],
      [`${platform}:anthropic/c`, 'openai_compatible', undefined, false],
    ],
    [
      'an own key before the installation',
      'openai/g',
      { LOAM_PROVIDER_KEY_OPENAI: 'k' },
      ['openai'],
      ['model:connection-1:openai/g', 'openai_compatible', 'own', true],
    ],
    [
      'an own key where there is no server',
      'g',
      {},
      ['openai'],
      ['model:connection-1:g', 'openai_compatible', 'own', true],
    ],
    [
      'a model of Anthropic that is not offered',
      'anthropic/c',
      { LOAM_ANTHROPIC_API_KEY: 'k', LOAM_MODELS: 'x,anthropic/d' },
      [],
      expect.stringMatching(/choose one of: x, anthropic\/d/),
    ],
    [
      'Groq by its key',
      'groq/llama',
      { LOAM_PROVIDER_KEY_GROQ: 'k', LOAM_MODELS: 'openai/gpt-5,groq/llama' },
      [],
      [`${platform}:groq/llama`, 'openai_compatible', 'k', false],
    ],
    [
      'Ollama by its address, without a key',
      'ollama/qwen3',
      { LOAM_PROVIDER_URL_OLLAMA: 'http://10.0.0.5:11434' },
      [],
      [`${platform}:ollama/qwen3`, 'openai_compatible', undefined, false],
    ],
    [
      'a server of the operator by its name',
      'box/qwen3',
      { LOAM_PROVIDER_URL_BOX: 'http://10.0.0.6:8000/v1', LOAM_MODELS: 'box/qwen3' },
      [],
      [`${platform}:box/qwen3`, 'openai_compatible', undefined, false],
    ],
    [
      'Gemini with an own key',
      'gemini/gemini-3',
      {},
      ['gemini'],
      ['model:connection-1:gemini/gemini-3', 'openai_compatible', 'own', true],
    ],
    [
      'Ollama without an address',
      'ollama/qwen3',
      {},
      [],
      expect.stringMatching(/set LOAM_PROVIDER_URL_OLLAMA/),
    ],
    ['a name that is none', 'x'.repeat(201), BASE, [], 'no model has a name of 201 characters'],
    ['a name from Object', 'constructor/x', {}, [], expect.stringMatching(/set LOAM_MODEL_BASE_URL/)],
  ])('%s', async (_name, name, env, connected, expected) => {
    expect(await find(name, env, connected)).toEqual(expected)
  })

  it('a connection by its name', async () => {
    expect(await find('small', BASE, ['openai mine'], 'mine')).toEqual([
      'model:connection-1:small',
      'openai_compatible',
      'own',
      true,
    ])
  })
})

it('each model has its address, its limit and its price factor', async () => {
  const models = createModels(
    readConfig({
      LOAM_MODELS: 'openai/gpt-5,groq/llama,box/qwen3',
      LOAM_PROVIDER_KEY_OPENAI: 'k',
      LOAM_PROVIDER_KEY_GROQ: 'k',
      LOAM_PROVIDER_URL_BOX: 'http://10.0.0.6:8000',
      LOAM_MODEL_CONCURRENCY: '8',
      LOAM_MODEL_LIMITS: 'groq=4,openai/gpt-5=2',
      LOAM_MODEL_PRICES: 'groq=0.5, openai/gpt-5=3',
    }),
  )
  const keys = { platform: () => null, own: async () => null }
  const read = async (name: string) => {
    const found = await models.find(name, { keys, egress })
    if (!found.ok) throw new Error(found.message)
    const { model } = found
    return [model.address.baseUrl, model.address.id, model.limits.concurrent, creditsOf(model, 1)]
  }
  expect(await read('openai/gpt-5')).toEqual(['https://api.openai.com/v1', 'gpt-5', 2, 3])
  expect(await read('groq/llama')).toEqual(['https://api.groq.com/openai/v1', 'llama', 4, 0.5])
  expect(await read('box/qwen3')).toEqual(['http://10.0.0.6:8000/v1', 'qwen3', 8, 1])
  await models.close()
})

it.each([
  ['LOAM_MODEL_LIMITS', 'groq'],
  ['LOAM_MODEL_LIMITS', 'groq=1.5'],
  ['LOAM_MODEL_PRICES', '=2'],
  ['LOAM_MODEL_PRICES', 'groq=much'],
])('%s=%s says what is wrong', (name, text) => {
  expect(() => readConfig({ [name]: text })).toThrow(`${name}: must be name=`)
})

it.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ LOAM_MODELS: ' a, b ,,' }, ['a', 'b']],
  [
    { LOAM_MODELS: 'a', LOAM_ANTHROPIC_API_KEY: 'k' },
    ['a', 'anthropic/claude-opus-5-5', 'anthropic/claude-sonnet-5-5', 'anthropic/claude-haiku-5-5'],
  ],
  [{ LOAM_MODELS: 'a,anthropic/b', LOAM_ANTHROPIC_API_KEY: 'k' }, ['a', 'anthropic/b']],
])('D55 with %j the models offered are %j', (env, names) => {
  expect(offeredModels(readConfig(env))).toEqual(names)
})
