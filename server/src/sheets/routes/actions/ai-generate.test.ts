import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { playOpenAi } from '#server/catalog/testing/model-server.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const model = playOpenAi({
  replies: [{ says: '{"tier": "A", "score": 9}' }],
  refusing: (body) => (JSON.stringify(body).includes('Globex') ? { says: 'I would rather not.' } : undefined),
})
const server = createServer((request, response) => void model.listener(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => server.close())

const { port } = server.address() as AddressInfo
const app = await makeApp({
  settings: { LOAM_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`, LOAM_MODELS: 'small,large' },
})
await startTestWorker(app)

describe('ai_generate through the API', () => {
  let org: TestOrg
  beforeAll(async () => {
    org = await app.makeOrg()
  })

  it('is configured, run, and known by its outputs', async () => {
    const chain = await makeChain(app, org, [{ name: 'domain', type: 'string' }])
    const id = await chain.add('ai_generate')
    expect((await chain.call('POST', `/${id}/options/model`, {})).body.data.options).toEqual([
      { value: 'small', label: 'small' },
      { value: 'large', label: 'large' },
    ])
    const output_format = {
      fields: [
        { name: 'tier', type: 'string', description: 'A, B or C.' },
        { name: 'score', type: 'number', description: '' },
      ],
    }
    const inputs = { model: 'small', prompt: 'Rate {{input.domain}}.', output_format, temperature: '0.5' }
    expect((await chain.call('PATCH', `/${id}`, { inputs })).body.warnings).toEqual([])
    // 4.5: output_format is returned as a discriminator string, not as the schema object that was sent.
    expect((await chain.call('GET', `/${id}`)).body.data.inputs).toEqual({
      ...inputs,
      output_format: 'fields',
    })
    // D74: outputs that the configuration names are known before any row has run.
    const known = (await chain.call('GET', `/${id}/outputs`)).body.data.outputs
    expect(known.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['tier', 'string'],
      ['score', 'number'],
    ])

    const rows = [{ domain: 'acme.example' }, { domain: 'Globex' }]
    await org.call('POST', `${chain.sheet}/rows`, { rows, run_after_add: 'all' })
    const [good, bad] = await settledRows(org, chain.sheet)
    expect(good?.cells[id]).toMatchObject({ status: 'complete', outputs: { tier: 'A', score: 9 } })
    expect(bad?.cells[id]).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/does not fit output_format.*The model said: I would rather not\./),
    })
    const outputs = (await chain.call('GET', `/${id}/outputs`)).body.data.outputs
    expect(outputs).toMatchObject([
      { name: 'tier', type: 'string', reference: `{{${id}.tier}}` },
      { name: 'score', type: 'number', reference: `{{${id}.score}}` },
    ])
    const cellOf = async (row: { row_id: string } | undefined) =>
      (await org.call('GET', `${chain.sheet}/rows/${row?.row_id}/cells/${id}`)).body.data.provenance
    const usage = { input_tokens: 100, output_tokens: 10 }
    expect(await cellOf(good)).toMatchObject({ credits: 1, providers: [{ provider: 'small', usage }] })
    expect(await cellOf(bad)).toMatchObject({ credits: 0, providers: [{ usage }, { usage }] })
  })

  it('D33, D74: a token for an output that the configuration does not name is an error', async () => {
    const chain = await makeChain(app, org, [{ name: 'domain', type: 'string' }])
    const fields = [
      { name: 'tier', type: 'string' },
      { name: 'score', type: 'number' },
    ]
    const output_format = { fields }
    await chain.add('ai_generate', { inputs: { model: 'small', prompt: 'Hello', output_format } })
    const data_formatter = '"tier " + {{ai_generate_1.teir}}'
    await chain.add('format_data_using_js_expression', { inputs: { data_formatter } })
    await org.call('POST', `${chain.sheet}/rows`, { rows: [{ domain: 'x' }], run_after_add: 'all' })
    const [row] = await settledRows(org, chain.sheet)
    expect(row?.cells['format_data_using_js_expression_1']).toEqual({
      status: 'error',
      error: 'unknown references: {{ai_generate_1.teir}}',
    })
  })

  it('without output_format it warns, and the answer is text', async () => {
    const chain = await makeChain(app, org, [{ name: 'domain', type: 'string' }])
    const added = await chain.call('POST', '/add', {
      action_id: 'ai_generate',
      inputs: { model: 'small', prompt: 'Hello {{input.domain}}' },
    })
    expect(added.body.warnings).toMatchObject([
      { field: 'inputs.output_format', code: 'required_field_missing' },
    ])
    await org.call('POST', `${chain.sheet}/rows`, { rows: [{ domain: 'x' }], run_after_add: 'all' })
    const [row] = await settledRows(org, chain.sheet)
    expect(row?.cells['ai_generate_1']).toMatchObject({
      status: 'complete',
      outputs: { response: '{"tier": "A", "score": 9}' },
    })
  })

  it('a model that is not offered is an error, unbilled (D18)', async () => {
    const chain = await makeChain(app, org, [{ name: 'domain', type: 'string' }])
    const inputs = { model: 'huge', prompt: 'Hello' }
    await chain.call('POST', '/add', { action_id: 'ai_generate', inputs })
    await org.call('POST', `${chain.sheet}/rows`, { rows: [{}], run_after_add: 'all' })
    const [row] = await settledRows(org, chain.sheet)
    expect(row?.cells['ai_generate_1']).toMatchObject({
      status: 'error',
      error: 'the model "huge" is not offered here; choose one of: small, large',
    })
  })
})
