import { Client } from 'pg'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { testCatalogue } from '#test/builders/catalogue.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const app = await makeApp({ services: { catalogue: testCatalogue } })
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})
afterEach(() => vi.restoreAllMocks())

/** Collects every statement to the app's database while `work` runs, except those that switch a connection's organisation. */
async function collectStatements(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(Client.prototype, 'query')
  await work()
  const database = new URL(app.databaseUrl).pathname.slice(1)
  const clients = query.mock.contexts as Client[]
  const own = query.mock.calls.filter((_call, n) => clients[n]?.database === database)
  const texts = own.map(([statement]: unknown[]) =>
    typeof statement === 'string' ? statement : String((statement as { text?: string }).text),
  )
  query.mockRestore()
  return texts.filter((text) => !text.includes('set_config'))
}

describe('edits of a chain', () => {
  it('Configure Action is one transaction and a handful of statements, however long the chain', async () => {
    const counts = []
    for (const length of [1, 50]) {
      const chain = await makeChain(app, org)
      for (let n = 0; n < length; n++) await chain.add('probe', { inputs: { text: `{{input.email}} ${n}` } })
      await chain.configure('probe_1', { inputs: { text: 'warm' } })
      const statements = await collectStatements(() => chain.configure('probe_1', { inputs: { text: 'x' } }))
      expect(statements.filter((text) => text === 'commit')).toHaveLength(1)
      expect(await chain.epochs()).toEqual(Array.from({ length }, () => 2))
      counts.push(statements.length)
    }
    expect(counts[0]).toBeLessThanOrEqual(16)
    expect(counts[1]).toBe(counts[0])
  })

  it('requests at the same time all count: no edit is lost, no id is given twice', async () => {
    const chain = await makeChain(app, org)
    await chain.add('probe')
    const fields = ['text', 'other', 'amount', 'mode']
    const values: Record<string, string> = { text: 'a', other: 'b', amount: '1', mode: 'fast' }
    const added = await Promise.all([
      ...Array.from({ length: 8 }, () => chain.add('gate', { after: 'input' })),
      ...fields.map((name) => chain.configure('probe_1', { inputs: { [name]: values[name] } })),
    ])
    expect(new Set(added.slice(0, 8)).size).toBe(8)
    expect((await chain.node('probe_1')).inputs).toEqual(values)
    expect(await chain.ids()).toHaveLength(10)
  })

  it('of two deletions at the same time one finds nothing', async () => {
    const chain = await makeChain(app, org)
    await chain.add('gate')
    const answers = await Promise.all([chain.call('DELETE', '/gate_1'), chain.call('DELETE', '/gate_1')])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404])
  })

  it('D14: an Idempotency-Key adds one action, whatever the number of calls', async () => {
    const chain = await makeChain(app, org)
    const headers = { 'idempotency-key': `add ${chain.workflowId}` }
    const add = () => org.call('POST', `${chain.sheet}/actions/add`, { action_id: 'gate' }, headers)
    expect((await add()).body).toEqual((await add()).body)
    expect(await chain.ids()).toEqual(['input', 'gate_1'])
  })

  it('what a duplicate copies are the actions with their configuration; suffixes go on from there', async () => {
    const chain = await makeChain(app, org)
    await chain.add('gate')
    await chain.add('probe', { inputs: { text: '{{input.email}}' }, note: 'n' })
    await chain.call('DELETE', '/gate_1')
    const { workflow_id } = (
      await org.call('POST', `/workflows/${chain.workflowId}/duplicate`, { name: 'Copy' })
    ).body.data
    const copy = `/workflows/${workflow_id}/sheets/${workflow_id}/actions`
    expect((await org.call('GET', `${copy}/graph`)).body.data).toEqual(
      (await chain.call('GET', '/graph')).body.data,
    )
    expect((await org.call('POST', `${copy}/add`, { action_id: 'gate' })).body.data.action_instance_id).toBe(
      'gate_2',
    )
  })
})
