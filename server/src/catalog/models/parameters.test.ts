import { describe, expect, it } from 'vitest'
import { FIELDS, GOOD, row, useModel } from '../testing/ask-model.ts'
import { type ChatBody, serveChat } from '../testing/chat-server.ts'
import { type ModelServer, serveOpenAi } from '../testing/model-server.ts'
import { createParameters } from './parameters.ts'

const { askAt, runAction } = useModel()

const refuse = (param: string, message: string, code = 'unsupported_parameter') => ({
  status: 400,
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } }),
})
const NO_LIMIT = refuse(
  'max_tokens',
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
)
const NO_TEMPERATURE = refuse(
  'temperature',
  "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
  'unsupported_value',
)
const INPUTS = { max_output_tokens: '50', temperature: '0.2' }

/** A server that has the parameters of GPT-5. */
const serveGpt5 = () =>
  serveOpenAi([{ says: 'x' }], (body) => {
    if (body.max_tokens !== undefined) return NO_LIMIT
    return body.temperature === undefined ? undefined : NO_TEMPERATURE
  })

const limitsIn = ({ calls }: ModelServer) =>
  calls.map(({ body: { max_tokens, max_completion_tokens, temperature } }) => ({
    max_tokens,
    max_completion_tokens,
    temperature,
  }))

describe('the parameters of a model', () => {
  it('OpenAI gets max_completion_tokens, and no temperature once it has refused one', async () => {
    const server = await serveGpt5()
    const models = { LOAM_PROVIDER_KEY_OPENAI: 'sk-1', LOAM_PROVIDER_URL_OPENAI: server.origin }
    const inputs = { prompt: 'Rate {{input.company}}.', model: 'openai/gpt-5', ...INPUTS }
    for (let n = 0; n < 2; n += 1)
      expect((await runAction('ai_generate', inputs, { row, models })).kind).toBe('done')
    expect(limitsIn(server)).toEqual([
      { max_completion_tokens: 50, temperature: 0.2 },
      { max_completion_tokens: 50 },
      { max_completion_tokens: 50 },
    ])
  })

  it('other servers get max_tokens, and the other name after a refusal', async () => {
    const server = await serveGpt5()
    await askAt(server, INPUTS)
    await askAt(server, INPUTS)
    expect(limitsIn(server)).toEqual([
      { max_tokens: 50, temperature: 0.2 },
      { max_completion_tokens: 50, temperature: 0.2 },
      { max_completion_tokens: 50 },
      { max_completion_tokens: 50 },
    ])
  })

  it('a value out of range is not a missing parameter', async () => {
    const message = 'max_tokens is too large: 50. This model supports at most 10 completion tokens.'
    const server = await serveOpenAi([refuse('max_tokens', message, 'invalid_value')])
    expect((await askAt(server, INPUTS)).outcome).toMatchObject({ kind: 'failed' })
    expect(server.calls).toHaveLength(1)
  })

  it('the agent runs on a model of OpenAI that has no max_tokens', async () => {
    const think = (body: ChatBody) => {
      if ('max_tokens' in body) return { status: 400, message: 'max_tokens is not supported' }
      if (!('max_completion_tokens' in body)) return { status: 500, message: 'no limit' }
      const isAnswer = JSON.stringify(body.messages[0]).includes('You answer from pages')
      return { says: isAnswer ? '{"founder":{"value":null,"sources":[],"reason":"none"}}' : 'done' }
    }
    const server = await serveChat(think)
    const outcome = await runAction(
      'llm_web_agents',
      {
        select_a_model: 'openai/gpt-5',
        mission: 'Who founded Acme?',
        output_format: { fields: [{ name: 'founder', type: 'string' }] },
      },
      { models: { LOAM_PROVIDER_KEY_OPENAI: 'sk-1', LOAM_PROVIDER_URL_OPENAI: server.url } },
    )
    expect(outcome).toMatchObject({ kind: 'done', outputs: { founder: null } })
    expect(server.bodies.length).toBeGreaterThan(0)
  })

  it('a server without response_format is asked with it once, whatever the schema', async () => {
    const server = await serveOpenAi([{ says: GOOD }], (body) =>
      body.response_format === undefined
        ? undefined
        : refuse('', 'This response_format type is unavailable now', 'invalid_request_error'),
    )
    const other = { fields: [{ name: 'score', type: 'number' }] }
    for (const output_format of [FIELDS, other])
      expect((await askAt(server, { output_format })).outcome.kind).toBe('done')
    expect(server.calls.map(({ body }) => body.response_format !== undefined)).toEqual([true, false, false])
  })

  it.each([
    [
      '{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}',
      422,
      true,
    ],
    ['{"error":{"message":"unknown field: seed"}}', 400, false],
    ['{"error":{"message":"max_completion_tokens is not supported"}}', 500, false],
  ])('%s with %i teaches something: %s', (text, status, learns) => {
    const parameters = createParameters(['max_completion_tokens', 'max_tokens'])
    const sent = parameters.fit({ max_tokens: 5 })
    expect(parameters.learn(sent, { status, excerpt: () => text })).toBe(learns)
    expect(parameters.fit({ max_tokens: 5 })).toEqual(learns ? { max_tokens: 5 } : sent)
  })
})
