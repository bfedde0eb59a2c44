import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../lib/config/config.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { createKey } from '../provider/access.ts'
import { createModels, offeredModels } from './models.ts'

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
