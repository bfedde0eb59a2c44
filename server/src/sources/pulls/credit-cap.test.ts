import { describe, expect, it } from 'vitest'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { runPull } from './pull-job.ts'
import { sweepSources } from './sweep.ts'
import { Killed, killedAt } from './testing/fault-store.ts'
import { itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp({ LOAM_PROVIDER_KEY_PAGED: 'platform key' })
const { app, lists, parts } = sources
const NEVER = new AbortController().signal
const nameAll = (count: number) => itemsOf(count).map(({ name }) => name)

async function books({ orgId }: TestOrg) {
  const [found] = await app.store.query<{ held: number; charged: number }>({
    text: `select held_millis as held,
        (select coalesce(-sum(amount_millis), 0) from ledger_entries e where e.org_id = o.org_id and reason = 'source') as charged
      from organisations o where org_id = $1`,
    values: [orgId],
  })
  return { held: Number(found?.held), charged: Number(found?.charged) }
}

const setCap = (org: TestOrg, id: string, max_credits: unknown) =>
  org.call('PATCH', `/sources/${id}`, { max_credits })

describe('M5: max_credits of Create Source covers its pulls', () => {
  it('a source that has used it up says so, and continues where it was when it is raised', async () => {
    lists.set('raised', { items: itemsOf(9), pageSize: 4 })
    const org = await app.makeOrg()
    const id = await sources.create(org, 'paged_once', { list: 'raised', max_credits: 5 })
    await sources.pull(org, id)
    const stopped = await sources.show(org, id)
    expect(stopped).toMatchObject({ status: 'paused_out_of_credits', credits_spent: 5, lead_count: 5 })
    expect(stopped.last_error.message).toContain('max_credits of 5 is used up')
    expect(stopped.last_error.hint).toContain('loam source set')
    const raised = await setCap(org, id, 7.5)
    expect([raised.status, raised.body.data]).toMatchObject([200, { status: 'active', max_credits: 7.5 }])
    await sources.pull(org, id)
    expect(await sources.show(org, id)).toMatchObject({ status: 'paused_out_of_credits', credits_spent: 7 })
    expect((await setCap(org, id, null)).body.data).toMatchObject({ status: 'active', max_credits: null })
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(9))
    expect(await books(org)).toEqual({ held: 0, charged: 9000 })
  })

  it('M9: pulls draw on stop budgets, by trigger and owner, and continue when the budget is raised', async () => {
    lists.set('budgeted', { items: itemsOf(9), pageSize: 4 })
    const org = await app.makeOrg()
    const set = (body: object) => org.call('POST', '/credits/budgets', { period: 'day', emails: [], ...body })
    const scope = { scope: 'member', subject: org.adminEmail, trigger: 'source' }
    const { budget_id } = (await set({ ...scope, limit: 5.5, name: 'Pulls' })).body.data
    expect((await set({ scope: 'organisation', trigger: 'api', limit: 0 })).status).toBe(201)
    const id = await sources.create(org, 'paged_once', { list: 'budgeted' })
    await sources.pull(org, id)
    const stopped = await sources.show(org, id)
    expect(stopped).toMatchObject({ status: 'paused_out_of_credits', credits_spent: 5, lead_count: 5 })
    expect(stopped.last_error.message).toContain('the budget "Pulls"')
    expect(stopped.last_error.message).toContain('0.5 are left')
    const budget = async () => (await org.call('GET', `/credits/budgets/${budget_id}`)).body.data
    expect(await budget()).toMatchObject({ spent: 5, held: 0, remaining: 0.5 })
    const [entry] = (await org.call('GET', '/credits/ledger?type=charge')).body.data.entries
    expect(entry).toMatchObject({ reason: 'source', trigger: 'source', member: org.adminEmail })
    await org.call('PATCH', `/credits/budgets/${budget_id}`, { limit: 100 })
    await sweepSources(app.store, NEVER)
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(9))
    expect(await budget()).toMatchObject({ spent: 9, held: 0 })
    expect(await books(org)).toEqual({ held: 0, charged: 9000 })
  })

  it('M4: dry_run returns the cost of its pulls, and creates no source', async () => {
    const org = await app.makeOrg()
    const ask = async (body: object) =>
      (await org.call('POST', '/sources/paged_once', { list: 'dry', dry_run: true, ...body })).body
    const counted = await ask({ max_count: 7, max_credits: 5 })
    expect(counted.data).toMatchObject({ rows: 7, cells: { billable: 7 }, credits: { at_most: 7 } })
    expect(counted.data.limits[0]).toEqual({ kind: 'max_credits', remaining: 5, covers: 'none' })
    const open = await ask({})
    expect([open.data.credits.at_most, open.warnings.at(-1).code]).toEqual([null, 'unbounded'])
    expect((await ask({ max_count: 0 })).status).toBe(400)
    expect((await org.call('GET', '/sources')).body.data).toEqual([])
    lists.set('synced', { items: itemsOf(3) })
    const id = await sources.create(org, 'paged_once', { list: 'synced' })
    await sources.pull(org, id)
    const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Synced' })).body.data
    const sheet = `/workflows/${workflow_id}/sheets/${workflow_id}`
    await org.call('POST', `${sheet}/inputs`, [{ name: 'x', type: 'string' }])
    const formula = { action_id: 'format_data_using_js_expression', inputs: { data_formatter: '1' } }
    await org.call('POST', `${sheet}/actions/add`, formula)
    const sync = (body: object) =>
      org.call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping: { 'input.x': 'name' }, ...body })
    expect((await sync({ dry_run: true })).body.data).toMatchObject({ rows: 0 })
    await org.call('PATCH', sheet, { auto_run: true })
    expect((await sync({ dry_run: true })).body.data).toMatchObject({ rows: 3, cells: { free: 3 } })
    expect((await sync({ dry_run: true, field_mapping: { 'input.y': 'name' } })).status).toBe(400)
    expect((await sources.show(org, id)).syncs).toEqual([])
  })

  it('a cap that still leaves no room for a record changes nothing else', async () => {
    lists.set('little', { items: itemsOf(3) })
    const org = await app.makeOrg()
    const id = await sources.create(org, 'paged_once', { list: 'little', max_credits: 1 })
    await sources.pull(org, id)
    expect((await setCap(org, id, 1.999)).body.data.status).toBe('paused_out_of_credits')
    await sweepSources(app.store, NEVER)
    expect(await sources.show(org, id)).toMatchObject({ status: 'paused_out_of_credits', lead_count: 1 })
  })

  it('a cap below what was spent is 400, as are amounts that are none', async () => {
    lists.set('spent', { items: itemsOf(3) })
    const org = await app.makeOrg()
    const id = await sources.create(org, 'paged_once', { list: 'spent' })
    await sources.pull(org, id)
    for (const [amount, message] of [
      [2.999, 'must be at least 3'],
      [-1, 'at least 0'],
      [3.0005, 'at most 3 decimals'],
      ['5', 'number'],
    ] as const) {
      const refused = await setCap(org, id, amount)
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(message)])
    }
    const misspelt = await org.call('PATCH', `/sources/${id}`, { max_credit: 5 })
    expect([misspelt.status, JSON.stringify(misspelt.body)]).toEqual([
      400,
      expect.stringContaining('max_credits'),
    ])
    const created = await org.call('POST', '/sources/paged_once', { list: 'spent', max_credits: 0.0005 })
    expect([created.status, JSON.stringify(created.body)]).toEqual([
      400,
      expect.stringContaining('at most 3 decimals'),
    ])
    expect(await sources.show(org, id)).toMatchObject({ status: 'completed', max_credits: null })
  })

  it("another organisation's source is 404, and a key that may only read gets 403", async () => {
    lists.set('foreign', { items: itemsOf(1) })
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    const id = await sources.create(org, 'paged_once', { list: 'foreign', max_credits: 1 })
    expect((await setCap(other, id, 100)).status).toBe(404)
    const reader = await org.keyFor('reader@example.com', 'member', { scopes: ['sources:read'] })
    expect((await app.call(reader, 'PATCH', `/sources/${id}`, { max_credits: 100 })).status).toBe(403)
    expect(await sources.show(org, id)).toMatchObject({ max_credits: 1 })
  })

  it('a cap that is lowered while a page is read binds that page', async () => {
    const org = await app.makeOrg()
    const lowered: Promise<unknown>[] = []
    lists.set('lowered', {
      items: itemsOf(6),
      pageSize: 6,
      answer: () => {
        if (lowered.length === 0) lowered.push(setCap(org, id, 2))
        return null
      },
    })
    const id: string = await sources.create(org, 'paged_once', { list: 'lowered', max_credits: 6 })
    await sources.pull(org, id)
    await Promise.all(lowered)
    await sources.pull(org, id)
    await sources.pull(org, id)
    const { credits_spent, lead_count } = await sources.show(org, id)
    // The page was written before the change, or not at all.
    expect([2, 6]).toContain(credits_spent)
    expect(lead_count).toBe(credits_spent)
    expect(await books(org)).toEqual({ held: 0, charged: credits_spent * 1000 })
  })

  it('is never passed, with workers at one tick that are killed before any statement', async () => {
    lists.set('torn', { items: itemsOf(9), pageSize: 4 })
    for (let at = 1; at <= 40; at += 3) {
      const org = await app.makeOrg()
      const id = await sources.create(org, 'paged_once', { list: 'torn', max_credits: 5.5 })
      const key = { org_id: org.orgId, instance_id: id }
      const pulls = [killedAt(app.store, at), killedAt(app.store, at + 1), app.store].map((store) =>
        runPull({ ...parts, store }, key, NEVER),
      )
      for (const ended of await Promise.allSettled(pulls)) {
        if (ended.status === 'rejected') expect(ended.reason).toBeInstanceOf(Killed)
      }
      await sources.set(id, 'claimed_until = null')
      await sources.pull(org, id)
      expect(await sources.show(org, id)).toMatchObject({
        status: 'paused_out_of_credits',
        lead_count: 5,
        credits_spent: 5,
      })
      expect(await books(org)).toEqual({ held: 0, charged: 5000 })
    }
  }, 300_000)
})
