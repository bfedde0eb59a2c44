import { describe, expect, it } from 'vitest'
import { failedWith, FIELDS, GOOD, KEY, useModel } from '../testing/ask-model.ts'
import { serveOpenAi } from '../testing/model-server.ts'

const { ask, askAt } = useModel()

describe('answers', () => {
  it.each<[string, object, string, object]>([
    ['plain text without output_format', {}, ' Fine. ', { response: 'Fine.' }],
    ['fields', { output_format: FIELDS }, GOOD, { score: 7, reason: 'solid' }],
    [
      'JSON in a code fence',
      { output_format: FIELDS },
      `Here:\n\`\`\`json\n${GOOD}\n\`\`\`\nBye`,
      { score: 7, reason: 'solid' },
    ],
    [
      'one of the choices of a field',
      { output_format: { fields: [{ name: 'size', choices: ['Small', 'Large'] }] } },
      '{"size": "Large"}',
      { size: 'Large' },
    ],
    ['JSON among words', { output_format: FIELDS }, `Sure! ${GOOD} Done.`, { score: 7, reason: 'solid' }],
    [
      'JSON behind thoughts',
      { output_format: FIELDS },
      `<think>{hm}</think>${GOOD}`,
      { score: 7, reason: 'solid' },
    ],
    [
      'null where nothing is known',
      { output_format: FIELDS },
      '{"score": null, "reason": null}',
      { score: null, reason: null },
    ],
    [
      'every type of field',
      {
        output_format: {
          fields: ['url', 'email', 'boolean', 'json', 'raw_array', 'structured_array'].map((type) => ({
            name: type,
            type,
          })),
        },
      },
      '{"url":"https://a.example/x","email":"a@b.example","boolean":true,"json":{"k":[1]},"raw_array":[1,"b"],"structured_array":[{"a":1}]}',
      {
        url: 'https://a.example/x',
        email: 'a@b.example',
        boolean: true,
        json: { k: [1] },
        raw_array: [1, 'b'],
        structured_array: [{ a: 1 }],
      },
    ],
    [
      'a JSON schema: keys become names of outputs, absent ones are null',
      {
        output_format: {
          json: {
            properties: {
              companyName: { $ref: '#/$defs/name' },
              tags: { type: 'array' },
              more: { type: 'string' },
            },
            required: ['companyName'],
            $defs: { name: { type: 'string', pattern: '^A' } },
          },
        },
      },
      '{"companyName": "Acme", "tags": [{"a b": 1}]}',
      { company_name: 'Acme', tags: [{ 'a b': 1 }], more: null },
    ],
    [
      'a JSON schema of a list',
      { output_format: { json: { type: 'array', items: { type: 'number' } } } },
      '[1, 2]',
      { items: [1, 2] },
    ],
  ])('%s', async (_name, inputs, says, outputs) => {
    const { outcome, calls } = await ask([{ says }], inputs)
    expect(outcome).toMatchObject({ kind: 'done', outputs, credits: 1 })
    expect(calls).toHaveLength(1)
  })

  it('carry the tokens used in their provenance', async () => {
    const { outcome } = await ask([{ says: 'Fine.', cached: 64 }])
    expect(outcome).toMatchObject({
      provenance: [
        {
          provider: 'small',
          status: 'hit',
          credits: 1,
          usage: { input_tokens: 100, output_tokens: 10, cached_input_tokens: 64 },
        },
      ],
    })
  })

  it('the request has the given key, model and settings', async () => {
    const { calls } = await ask([{ says: GOOD }], {
      output_format: FIELDS,
      temperature: '0.2',
      max_output_tokens: '50',
      system_prompt: 'Be brief.',
    })
    expect(calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
      body: {
        model: 'small',
        temperature: 0.2,
        max_tokens: 50,
        response_format: {
          type: 'json_schema',
          json_schema: {
            strict: true,
            schema: { required: ['score', 'reason'], additionalProperties: false },
          },
        },
      },
    })
    expect(calls[0]?.body.messages[0].content).toContain('Be brief.')
  })
})

describe('an answer that does not fit', () => {
  const BAD: [string, string, RegExp][] = [
    ['no JSON', 'I cannot say.', /it is not JSON.*The model said: I cannot say\./],
    [
      'a wrong type',
      '{"score": "high", "reason": "x"}',
      /\$\.score.*must be a number.*The model said: \{"score": "high"/,
    ],
    ['a field left out', '{"score": 1}', /\$\.reason/],
    ['nothing', '', /The model said: nothing/],
  ]

  it.each(BAD)('%s: is sent back once with what is wrong, and repaired', async (_name, says) => {
    const { outcome, calls } = await ask([{ says }, { says: GOOD }], { output_format: FIELDS })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { score: 7, reason: 'solid' },
      provenance: [
        { status: 'invalid', credits: 0 },
        { status: 'hit', credits: 1 },
      ],
    })
    const [, , answer, complaint] = calls[1]?.body.messages ?? []
    expect([answer, complaint]).toMatchObject([
      { role: 'assistant', content: says || '(nothing)' },
      { role: 'user', content: expect.stringContaining('does not fit the schema') },
    ])
  })

  it.each(BAD)('%s: twice is a failed cell that shows what the model said', async (_name, says, message) => {
    const { outcome, calls } = await ask([{ says }], { output_format: FIELDS })
    expect(outcome).toMatchObject({
      ...failedWith(message),
      provenance: [{ status: 'invalid' }, { status: 'invalid' }],
    })
    expect(calls).toHaveLength(2)
  })

  it.each([
    ['a field too many', '{"score": 1, "reason": "x", "extra": 1}', { score: 1, reason: 'x' }],
    ['null', 'null', { score: null, reason: null }],
    ['a comma too many', '```json\n{"score": 1, "reason": null,}\n```', { score: 1, reason: null }],
  ])('D97: %s is read as it was meant, at once', async (_name, says, outputs) => {
    const { outcome, calls } = await ask([{ says }], { output_format: FIELDS })
    expect(outcome).toMatchObject({ kind: 'done', outputs })
    expect(calls).toHaveLength(1)
  })

  it.each<[string, object, string]>([
    ['enum', { type: 'object', properties: { a: { enum: ['x', 'y'] } }, required: ['a'] }, '{"a": "z"}'],
    ['minimum', { properties: { a: { type: 'integer', minimum: 3 } } }, '{"a": 2}'],
    ['pattern', { properties: { a: { type: 'string', pattern: '^[A-Z]{2}$' } } }, '{"a": "us"}'],
    [
      'pattern in one of two types',
      { properties: { a: { anyOf: [{ type: 'string', pattern: '^x' }, { type: 'null' }] } } },
      '{"a": "us"}',
    ],
    ['required without properties', { type: 'object', required: ['a'] }, '{}'],
    ['a type that goes without saying', { properties: { a: {} } }, '[]'],
  ])('%s of a JSON schema is held', async (_name, json, says) => {
    expect((await ask([{ says }], { output_format: { json } })).outcome).toMatchObject(
      failedWith(/does not fit/),
    )
  })

  it('a pattern that would never end is stopped', async () => {
    const json = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
    const says = JSON.stringify({ a: `${'a'.repeat(40)}!` })
    expect((await ask([{ says }], { output_format: { json } })).outcome).toMatchObject(
      failedWith(/patterns could not be checked/),
    )
  })
})

describe('a server that refuses response_format', () => {
  it.each([400, 422])('with %i is asked without it, and from then on at once', async (status) => {
    const refusal = { status, body: '{"error":{"message":"response_format is not supported"}}' }
    const server = await serveOpenAi([{ says: GOOD }], (body) => (body.response_format ? refusal : undefined))
    const formats = () => server.calls.map(({ body }) => body.response_format?.type)
    for (const n of [1, 2]) {
      const { outcome } = await askAt(server, { output_format: FIELDS })
      expect(outcome).toMatchObject({ kind: 'done', outputs: { score: 7 } })
      expect(formats()).toEqual(n === 1 ? ['json_schema', undefined] : ['json_schema', undefined, undefined])
    }
    expect(server.calls.at(-1)?.body.messages[0].content).toContain('"score"')
  })
})

describe('configuration', () => {
  it.each<[object, RegExp]>([
    [{ temperature: '3' }, /between 0 and 2/],
    [{ output_format: { fields: [{ name: 'a' }, { name: 'a' }] } }, /fields\[1\]\.name is used twice/],
    [
      { output_format: { fields: [{ name: 'a', type: 'number', choices: ['1'] }] } },
      /fields\[0\]\.choices is accepted for the type string only/,
    ],
    [{ output_format: { fields: [{ name: 'a', choices: [] }] } }, /choices must be a list of 1 to 200 texts/],
    [{ output_format: { fields: [{ name: 'a', choices: ['x', 'x'] }] } }, /must not name a text twice/],
    [{ output_format: { json: { type: 'strin' } } }, /json must be a JSON schema .*Unsupported type: strin/],
    [{ output_format: { json: { properties: { a: 5 } } } }, /contains a value that is not a schema/],
    [{ output_format: { json: { properties: { a: { $ref: '#' } } } } }, /refers to itself/],
    [{ output_format: { json: { $ref: 'https://example.com/x' } } }, /outside the schema/],
    [{ output_format: { json: { if: {} } } }, /uses if, which is not supported/],
    [{ output_format: { json: { type: 'string', pattern: '(' } } }, /no regular expression/],
  ])('%j is refused', async (inputs, message) => {
    await expect(ask([{ says: 'x' }], inputs)).rejects.toThrow(message)
  })
})
