import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const received: [string | undefined, string][] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    received.push([request.url, Buffer.concat(chunks).toString()])
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()

const LONG = '12345678901234567890'
const call = (action_id: string, inputs: string) => `{"action_id": "${action_id}", "inputs": {${inputs}}}`
const HTTP = `"method": "POST", "endpoint": "${url}"`

it.each<[string, string, [string, string]]>([
  [
    'items of a jsonArray',
    call(
      'http_api_call',
      `${HTTP}, "body": [{"name": "id", "value": ${LONG}}, {"name": "n", "value": [1.50, 5]}]`,
    ),
    ['/', `{"id":${LONG},"n":[1.50,5]}`],
  ],
  [
    'an object of names and values',
    call('http_api_call', `${HTTP}, "query_params": {"id": ${LONG}}, "body": {"deep": {"id": -${LONG}}}`),
    [`/?id=${LONG}`, `{"deep":{"id":-${LONG}}}`],
  ],
  [
    'a number that cannot be stored',
    call('http_api_call', `${HTTP}, "body": {"n": 1e99999}`),
    ['/', '{"n":"1e99999"}'],
  ],
  [
    'a payload',
    call('send_webhook', `"url": "${url}", "payload": {"id": ${LONG}, "who": "{{input.email}}"}`),
    ['/', `{"id":${LONG},"who":"a"}`],
  ],
  [
    'a payload as text',
    call('send_webhook', `"url": "${url}", "payload": "{\\"id\\": ${LONG}}"`),
    ['/', `{"id":${LONG}}`],
  ],
])('D28: literal numbers are sent with the digits that were configured: %s', async (_name, body, sent) => {
  const chain = await makeChain(app, org)
  const added = await chain.call('POST', '/add', body)
  expect([added.status, added.body.errors]).toEqual([201, undefined])
  const copy = await org.call('POST', `/workflows/${chain.workflowId}/duplicate`, { name: 'Copy' })
  const { workflow_id } = copy.body.data
  for (const sheet of [chain.sheet, `/workflows/${workflow_id}/sheets/${workflow_id}`]) {
    received.length = 0
    await org.call('POST', `${sheet}/rows`, { rows: [{ email: 'a' }], run_after_add: 'all' })
    expect((await settledRows(org, sheet)).map((row) => row.row_status)).toEqual(['complete'])
    expect(received).toEqual([sent])
  }
})

it('run_if: values are coerced to the text that was written (2)', async () => {
  const chain = await makeChain(app, org)
  const id = await chain.add('filter')
  const leaf = (values: string) => `{"variable": "{{input.email}}", "operator": "is", "values": [${values}]}`
  for (const number of [LONG, '1.50', '1e2', '-0']) {
    const runIf = `{"conditions": [{"conditions": [${leaf(number)}]}]}`
    const paths = `[{"conditions": [${leaf(number)}]}]`
    await chain.configure(id, `{"run_if": ${runIf}, "inputs": {"path_conditions": ${paths}}}`)
    const { run_if, inputs } = await chain.node(id)
    expect(run_if.conditions[0].conditions[0].values).toEqual([number])
    expect(inputs.path_conditions[0].conditions[0].values).toEqual([number])
    await chain.configure(id, `{"run_if": ${leaf(number)}}`)
    expect((await chain.node(id)).run_if.conditions[0].conditions[0].values).toEqual([number])
  }
})

it.each<[string, string, string]>([
  ['{"run_if": {"conditions": [1.50], "values": 1}}', 'run_if.conditions[0]', 'must be an object'],
  ['{"run_if": 1.50}', 'run_if', 'must be an object'],
  ['{"inputs": 1.50}', 'inputs', 'must be an object'],
  ['{"inputs": {"path_conditions": [1.50]}}', 'inputs.path_conditions[0]', 'must be an object'],
])('D5: a number elsewhere is refused in the same words: %s', async (body, field, message) => {
  const chain = await makeChain(app, org)
  const id = await chain.add('filter')
  const { status, body: answer } = await chain.call('PATCH', `/${id}`, body)
  expect([status, answer.errors]).toEqual([400, expect.arrayContaining([{ field, message }])])
})

it('4.5: a raw number for a numeric field is dropped with a warning, however it is written', async () => {
  const chain = await makeChain(app, org)
  const id = await chain.add('http_api_call')
  for (const number of ['5', '5.0', LONG]) {
    expect(await chain.configure(id, `{"inputs": {"timeout_seconds": ${number}}}`)).toContainEqual(
      expect.objectContaining({ field: 'inputs.timeout_seconds', code: 'unknown_field' }),
    )
  }
  expect((await chain.node(id)).inputs).toEqual({})
})

it('D60: numbers in a JSON schema are those of the schema', async () => {
  const chain = await makeChain(app, org)
  const json =
    '{"type": "object", "properties": {"n": {"type": "number", "minimum": 0.0000001, "maximum": 1e21}}}'
  const id = await chain.add('ai_generate')
  await chain.configure(id, `{"inputs": {"output_format": {"json": ${json}}}}`)
  expect((await chain.call('GET', `/${id}/outputs`)).body.data.outputs).toMatchObject([
    { name: 'n', type: 'number' },
  ])
})
