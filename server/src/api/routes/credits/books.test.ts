import { describe, expect, it } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { done } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { createCatalogue, loadCatalogue } from '#server/catalog/registry.ts'
import { resetPrices, setPrice } from '#server/org/prices.ts'
import { makeApp } from '#test/harness.ts'
import { settledRows, startTestWorker } from '#test/worker.ts'

const paid = defineAction({
  id: 'paid',
  name: 'Paid',
  description: 'Costs two credits.',
  category: 'data',
  credits: 2,
  inputs: {},
  outputs: { value: output.text('A text.') },
  run: async () => done({ value: 'x' }),
})
const real = await loadCatalogue()
const borrowed = ['normalize_domain', 'verify_email', 'ai_generate'].map((id) => ({
  file: `${id}.ts`,
  module: { default: real.get(id) },
}))
const catalogue = createCatalogue([{ file: 'paid.ts', module: { default: paid } }, ...borrowed])
const app = await makeApp({ services: { catalogue } })
const org = await app.makeOrg()
const db = app.store.system

async function makeSheet(action: { action_id: string; inputs: object }, key = org.key) {
  const made = await app.call(key, 'POST', '/workflows', { name: `Sheet of ${action.action_id}` })
  const id: string = made.body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await app.call(key, 'POST', `${base}/inputs`, [{ name: 'website', type: 'string' }])
  const added = await app.call(key, 'POST', `${base}/actions/add`, action)
  expect(added.status).toBe(201)
  const addRows = async (count: number, name = 'site') => {
    const rows = Array.from({ length: count }, (_, n) => ({ website: `https://${name}${n}.example` }))
    const answer = await app.call(key, 'POST', `${base}/rows`, { rows, run_after_add: 'all' })
    return answer.body.data.row_ids as string[]
  }
  const runs = async () => (await app.call(key, 'GET', `${base}/runs`)).body.data
  return { id, base, addRows, runs, settled: () => settledRows(org, base) }
}

const entriesOf = async (workflowId: string) =>
  (await org.call('GET', `/credits/ledger?workflow_id=${workflowId}`)).body.data.entries

describe('M11: prices', () => {
  it('list every action with its providers, for any key', async () => {
    const key = await org.keyFor('user@example.com', 'user', { scopes: [] })
    const { status, body } = await app.call(key, 'GET', '/credits/prices')
    expect([status, body.data.version, body.data.agent]).toEqual([200, 1, { credits: 5 }])
    expect(body.data.actions.map(({ action_id }: { action_id: string }) => action_id)).toEqual(
      catalogue.list().map(({ id }) => id),
    )
    expect(body.data.actions[0]).toEqual({ action_id: 'paid', credits: 2, providers: [] })
    const verify = body.data.actions.find(
      ({ action_id }: { action_id: string }) => action_id === 'verify_email',
    )
    expect(verify.providers).toContainEqual({
      field: expect.any(String),
      provider: 'Hunter',
      credits: expect.any(Number),
      miss_credits: expect.any(Number),
      supports_own_key: true,
    })
    expect((await org.call('GET', '/credits/prices?version=99')).status).toBe(404)
    expect((await org.call('GET', '/credits/prices?version=x')).status).toBe(400)
  })

  it('a change never applies to rows already queued: a run follows the prices of when it was queued', async () => {
    const sheet = await makeSheet({ action_id: 'paid', inputs: {} })
    await sheet.addRows(2)
    expect((await setPrice(db, catalogue, { action: 'paid', credits: 3.5 })).version).toBe(2)
    // What is set already is no change.
    expect((await setPrice(db, catalogue, { action: 'paid', credits: 3.5 })).version).toBe(2)
    const worker = await startTestWorker(app)
    await sheet.settled()
    const later = await sheet.addRows(1, 'later')
    const rows = await sheet.settled()
    expect(rows.map(({ row_status }) => row_status)).toEqual(['complete', 'complete', 'complete'])
    const entries = await entriesOf(sheet.id)
    expect(
      entries.map(({ row_id, amount, price_version }: Record<string, unknown>) => [
        row_id === later[0],
        amount,
        price_version,
      ]),
    ).toEqual([
      [true, -3.5, 2],
      [false, -2, 1],
      [false, -2, 1],
    ])
    expect((await sheet.runs()).map((run: { price_version: number }) => run.price_version)).toEqual([2, 1])
    expect((await org.call('GET', '/credits')).body.data.price_version).toBe(2)
    const estimate = await org.call('POST', `${sheet.base}/estimate`, { new_rows: 2 })
    expect(estimate.body.data).toMatchObject({ price_version: 2, credits: { expected: 7, at_most: 7 } })
    const before = await org.call('GET', '/credits/prices?version=1')
    expect(before.body.data.actions[0].credits).toBe(2)
    await worker.stop()
  })

  it('an action that computes for nothing can be given a price: each of its cells is then paid once', async () => {
    await setPrice(db, catalogue, { action: 'normalize_domain', credits: 0.25 })
    const sheet = await makeSheet({ action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } })
    await sheet.addRows(120)
    const worker = await startTestWorker(app)
    await sheet.settled()
    await worker.stop()
    const entries = await entriesOf(sheet.id)
    expect([entries.length, entries[0].amount]).toEqual([100, -0.25])
    const [run] = await sheet.runs()
    expect(run.credits).toBe(30)
    await resetPrices(db, catalogue, undefined)
    expect((await org.call('GET', '/credits/prices')).body.data.actions[0].credits).toBe(2)
  })

  it('a provider has a price of its own in each action, also where it finds nothing', async () => {
    const before = (await org.call('GET', '/credits/prices')).body.data
    const { version, prices } = await setPrice(db, catalogue, {
      action: 'verify_email',
      provider: 'hunter',
      credits: 0.7,
      missCredits: 0.1,
    })
    expect(version).toBe(before.version + 1)
    const hunter = prices.actions
      .find(({ action_id }) => action_id === 'verify_email')
      ?.providers.find(({ provider }) => provider === 'Hunter')
    expect([hunter?.credits, hunter?.miss_credits]).toEqual([0.7, 0.1])
    await resetPrices(db, catalogue, 'verify_email')
    expect((await org.call('GET', '/credits/prices')).body.data.actions).toEqual(before.actions)
  })

  it.each([
    [{ action: 'payd', credits: 1 }, /There is no action payd; did you mean paid/],
    [{ action: 'verify_email', credits: 1 }, /provider/],
    [{ action: 'verify_email', provider: 'Nobody', credits: 1 }, /asks no provider Nobody/],
    [{ action: 'paid', credits: 1, missCredits: 1 }, /miss-credits/],
  ])('%j is refused, with what to do', async (given, words) => {
    const failure = await setPrice(db, catalogue, given).catch((cause: unknown) => cause)
    expect(JSON.stringify([String(failure), failure])).toMatch(words)
  })
})
