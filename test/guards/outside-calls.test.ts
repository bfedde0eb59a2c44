import Fastify from 'fastify'
import { expect, it } from 'vitest'
import type { OpenCall } from '#server/api/http/idempotency.ts'
import { createEgress } from '#server/lib/egress/egress.ts'
import { atEnd } from '../plumbing/at-end.ts'
import { makeStore } from '../plumbing/harness.ts'
import { takeFaults, watchEgress, watchRequests } from './outside-calls.ts'

const { store } = await makeStore()
const egress = watchEgress(createEgress({ allow: [] }))
atEnd(() => egress.close())
const callOut = () => egress.fetch({ url: 'http://127.0.0.1:1/' })

it('I5: an outside call inside a transaction is a fault, but not before or after it', async () => {
  await callOut()
  await store.system.transaction().execute(async (trx) => {
    await trx.selectFrom('organisations').select('org_id').execute()
    await callOut()
  })
  await callOut()
  expect(takeFaults()).toEqual([expect.stringContaining('inside a transaction')])
})

it('I5: so is an outside call by a route whose claim is an open transaction, and by one that does not declare it', async () => {
  const app = Fastify()
  atEnd(() => app.close())
  app.decorateRequest('idempotentCall', null)
  watchRequests(app)
  app.addHook('onRequest', async (request) => {
    if (request.url === '/claimed') request.idempotentCall = { transaction: {} } as OpenCall
  })
  const route = async () => void (await callOut())
  app.get('/claimed', { config: { callsOut: 'committed' } }, route)
  app.get('/declared', { config: { callsOut: 'committed' } }, route)
  app.get('/undeclared', route)
  for (const url of ['/claimed', '/declared', '/undeclared']) await app.inject(url)
  expect(takeFaults()).toEqual([
    expect.stringContaining('GET /claimed calls out inside a transaction'),
    expect.stringContaining('GET /undeclared calls out and does not declare'),
  ])
})
