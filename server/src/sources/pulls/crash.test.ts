import { expect, it } from 'vitest'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { deliverRecords } from './delivery-job.ts'
import { runPull } from './pull-job.ts'
import { Killed, killedAt } from './testing/fault-store.ts'
import { itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp({ LOAM_PROVIDER_KEY_PAGED: 'platform key' })
const { app, lists, parts } = sources
const NEVER = new AbortController().signal
const MAX_STATEMENTS = 500

/** Clears the claim, as the end of its lease would. */
const forget = (id: string) => sources.set(id, 'claimed_until = null')

async function books(org: TestOrg) {
  const [found] = await app.store.query<{ balance: number; held: number; ledger: number }>({
    text: `select credits_millis as balance, held_millis as held,
        (select coalesce(sum(amount_millis), 0) from ledger_entries e where e.org_id = o.org_id) as ledger
      from organisations o where org_id = $1`,
    values: [org.orgId],
  })
  return { balance: Number(found?.balance), held: Number(found?.held), ledger: Number(found?.ledger) }
}

/** Returns true if `work` completed before it was killed. */
async function survives(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (cause) {
    if (cause instanceof Killed) return false
    throw cause
  }
}

/** Calls `attempt`, killed one statement later each time, until it returns true. Returns the number of calls. */
async function killEverywhere(attempt: (at: number) => Promise<boolean>): Promise<number> {
  for (let at = 1; at < MAX_STATEMENTS; at += 1) if (await attempt(at)) return at
  throw new Error('the pull never completed')
}

it('a pull that is killed before any statement, at any page, loses and doubles nothing, and is charged once', async () => {
  lists.set('people', { items: itemsOf(7), pageSize: 2 })
  const org = await app.makeOrg()
  const before = await books(org)
  const made = await killEverywhere(async (at) => {
    const id = await sources.create(org, 'paged_once', { list: 'people' })
    const key = { org_id: org.orgId, instance_id: id }
    const cut = killedAt(app.store, at)
    const through = await survives(runPull({ ...parts, store: cut }, key, NEVER))
    await forget(id)
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(itemsOf(7).map(({ name }) => name))
    expect(await sources.show(org, id)).toMatchObject({
      status: 'completed',
      lead_count: 7,
      credits_spent: 7,
    })
    return through
  })
  expect(made).toBeGreaterThan(20)
  const after = await books(org)
  expect(after.held).toBe(0)
  expect(before.balance - after.balance).toBe(made * 7000)
  expect(after.ledger - before.ledger).toBe(-made * 7000)
})

it('one pull that is killed before every statement in turn completes exactly', async () => {
  lists.set('stubborn', { items: itemsOf(5), pageSize: 2 })
  const org = await app.makeOrg()
  const before = await books(org)
  const id = await sources.create(org, 'paged_once', { list: 'stubborn' })
  const key = { org_id: org.orgId, instance_id: id }
  await killEverywhere(async (at) => {
    await forget(id)
    await survives(runPull({ ...parts, store: killedAt(app.store, at) }, key, NEVER))
    return (await sources.show(org, id)).status === 'completed'
  })
  expect(await sources.names(org, id)).toEqual(itemsOf(5).map(({ name }) => name))
  expect(await books(org)).toMatchObject({ held: 0, balance: before.balance - 5000 })
})

it('a delivery that is killed before any statement brings each record once', async () => {
  lists.set('delivered', { items: itemsOf(30), pageSize: 10 })
  const org = await app.makeOrg()
  const id = await sources.create(org, 'paged_once', { list: 'delivered' })
  await sources.pull(org, id)
  const tries = await killEverywhere(async (at) => {
    const { body } = await org.call('POST', '/workflows', { name: `Killed at ${at}` })
    const workflowId: string = body.data.workflow_id
    const base = `/workflows/${workflowId}/sheets/${workflowId}`
    await org.call('POST', `${base}/inputs`, [{ name: 'who', type: 'string' }])
    await org.call('POST', `/sources/${id}/sync`, {
      workflow_id: workflowId,
      field_mapping: { 'input.who': 'name' },
    })
    const key = { org_id: org.orgId, instance_id: id, workflow_id: workflowId }
    const cut = killedAt(app.store, at)
    const through = await survives(deliverRecords(cut.org(org.orgId), key, NEVER))
    await sources.deliver(org, id, workflowId)
    const rows = await org.call('POST', `${base}/rows/list`, { page_size: 200 })
    expect(rows.body.data.rows.map(({ inputs }: { inputs: { who: string } }) => inputs.who)).toEqual(
      itemsOf(30).map(({ name }) => name),
    )
    return through
  })
  expect(tries).toBeGreaterThan(4)
})
