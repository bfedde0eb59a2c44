import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const ids: unknown[] = []
const server = createServer((request, response) => {
  ids.push(request.headers['webhook-id'])
  response.writeHead(ids.length === 1 ? 503 : 202).end()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => server.close())

const app = await makeApp()
await startTestWorker(app)

it('a webhook that is tried again has the same webhook-id, and another one in another run', async () => {
  const org = await app.makeOrg()
  const chain = await makeChain(app, org)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const id = await chain.add('send_webhook', { inputs: { url, payload: '{"email": "{{input.email}}"}' } })
  await org.call('POST', `${chain.sheet}/rows`, { rows: [{ email: 'a@b.example' }], run_after_add: 'all' })
  const [row] = await settledRows(org, chain.sheet)
  expect(row?.cells[id]).toMatchObject({
    status: 'complete',
    outputs: { id: ids[0], delivered: true, status_code: 202 },
  })
  await org.call('POST', `${chain.sheet}/run-all`, {})
  await settledRows(org, chain.sheet)
  expect(ids).toHaveLength(3)
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})
