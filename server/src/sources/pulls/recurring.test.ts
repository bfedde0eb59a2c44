import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { listOverdueSources } from '#server/sources/store/source-pulls.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { runPull } from './pull-job.ts'
import { deleteSource } from './status.ts'
import { sweepSources } from './sweep.ts'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp()
const { app, lists, asked } = sources
const NEVER = new AbortController().signal
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
  await connectPaged(app, org)
})

const nameAll = (count: number, from = 1) => itemsOf(count, from).map(({ name }) => name)
const askedOf = (list: string) => asked.filter((one) => one.list === list)

describe('recurring pulls', () => {
  it('follow the schedule, keep known records and take new and changed ones', async () => {
    const items = itemsOf(3)
    lists.set('tracked', { items })
    const id = await sources.create(org, 'paged_tracked', { list: 'tracked', schedule: '*/5 * * * *' })
    await sources.pull(org, id)
    const first = await sources.show(org, id)
    expect(first).toMatchObject({ status: 'active', lead_count: 3, schedule: '*/5 * * * *' })
    expect(Date.parse(first.next_pull_at) % 300_000).toBe(0)
    expect(Date.parse(first.next_pull_at)).toBeGreaterThan(Date.now())
    items[1] = { id: 2, name: 'renamed' }
    items.push({ id: 4, name: 'item 4' })
    await sources.pull(org, id)
    expect((await sources.show(org, id)).lead_count).toBe(3)
    await sources.set(id, 'next_pull_at = now()')
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(['item 1', 'renamed', 'item 3', 'item 4'])
    expect((await sources.show(org, id)).last_pull).toMatchObject({ new: 1, updated: 1, unchanged: 2 })
  })

  it('start where the previous pull ended, and equal timestamps lose nothing', async () => {
    const items = [1, 2, 3].map((id) => ({ id, name: `item ${id}`, at: 'T1' }))
    lists.set('stamped', {
      items: [],
      answer: ({ since }) => ({
        json: { items: items.filter(({ at }) => since === null || at >= since), resume: 'T1' },
      }),
    })
    const id = await sources.create(org, 'paged_tracked', { list: 'stamped' })
    await sources.pull(org, id)
    items.push({ id: 4, name: 'item 4', at: 'T1' }, { id: 5, name: 'item 5', at: 'T2' })
    await sources.set(id, 'next_pull_at = now()')
    await sources.pull(org, id)
    expect(askedOf('stamped').map(({ since }) => since)).toEqual([null, 'T1'])
    expect(await sources.names(org, id)).toEqual(nameAll(5))
  })

  it('pull_existing: false imports only what comes later', async () => {
    const items = itemsOf(3)
    lists.set('later', { items })
    const id = await sources.create(org, 'paged_tracked', { list: 'later', import_existing_data: false })
    await sources.pull(org, id)
    expect(await sources.show(org, id)).toMatchObject({ lead_count: 0, last_pull: { new: 0, unchanged: 3 } })
    items.push(...itemsOf(2, 4))
    items[0] = { id: 1, name: 'changed before' }
    await sources.set(id, 'next_pull_at = now()')
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(['item 4', 'item 5'])
    expect(await sources.show(org, id)).toMatchObject({ lead_count: 2 })
  })

  it('one tick is pulled once by many workers', async () => {
    lists.set('once', { items: itemsOf(4) })
    const id = await sources.create(org, 'paged_tracked', { list: 'once' })
    await Promise.all(Array.from({ length: 8 }, () => sources.pull(org, id)))
    expect(askedOf('once')).toHaveLength(2)
    await sources.set(id, `next_pull_at = now() - interval '1 hour'`)
    await Promise.all(Array.from({ length: 8 }, () => sources.pull(org, id)))
    expect(askedOf('once')).toHaveLength(4)
    expect(await sources.show(org, id)).toMatchObject({ lead_count: 4 })
  })

  it('a clock that is wrong in a worker changes nothing: the database decides', async () => {
    lists.set('skewed', { items: itemsOf(2) })
    const id = await sources.create(org, 'paged_tracked', { list: 'skewed' })
    await sources.pull(org, id)
    const { next_pull_at } = await sources.show(org, id)
    const skewed = { ...sources.parts.services, now: () => new Date(Date.now() + 10 * 86_400_000) }
    await runPull({ ...sources.parts, services: skewed }, { org_id: org.orgId, instance_id: id }, NEVER)
    expect(askedOf('skewed')).toHaveLength(1)
    expect((await sources.show(org, id)).next_pull_at).toBe(next_pull_at)
  })

  it('end at their date: the source is expired and cannot be changed', async () => {
    lists.set('ending', { items: itemsOf(2) })
    const id = await sources.create(org, 'paged_tracked', { list: 'ending', stop_at: '2040-01-01T00:00:00Z' })
    await sources.set(id, `stop_at = now() - interval '1 second'`)
    await sources.pull(org, id)
    expect(await sources.show(org, id)).toMatchObject({ status: 'expired', lead_count: 0 })
    for (const status of ['paused', 'active'])
      expect((await org.call('PATCH', `/sources/${id}/status`, { status })).status).toBe(400)
  })

  it('the sweep ends paused ones too, and finds jobs that were lost', async () => {
    lists.set('swept', { items: itemsOf(2) })
    const paused = await sources.create(org, 'paged_tracked', { list: 'swept' })
    await org.call('PATCH', `/sources/${paused}/status`, { status: 'paused' })
    await sources.set(paused, `stop_at = now() - interval '1 second'`)
    const lost = await sources.create(org, 'paged_once', { list: 'swept' })
    const jobs = () =>
      app.store.query({
        text: `select 1 from graphile_long.jobs where key = $1`,
        values: [`pull_source:${lost}`],
      })
    await app.store.query({ text: 'select graphile_long.remove_job($1)', values: [`pull_source:${lost}`] })
    await sources.set(lost, `next_pull_at = now() - interval '1 hour'`)
    expect(await jobs()).toHaveLength(0)
    await sweepSources(app.store, NEVER)
    expect(await sources.show(org, paused)).toMatchObject({ status: 'expired' })
    expect(await jobs()).toHaveLength(1)
  })
})

describe('PATCH /sources/{source_instance_id}/status (D49)', () => {
  const patch = (id: string, status: unknown) => org.call('PATCH', `/sources/${id}/status`, { status })

  it('pauses and resumes; the same state is 200', async () => {
    lists.set('patched', { items: itemsOf(4) })
    const id = await sources.create(org, 'paged_once', { list: 'patched' })
    expect((await patch(id, 'paused')).body).toEqual({
      status: 200,
      data: { source_instance_id: id, status: 'paused' },
    })
    expect((await patch(id, 'paused')).status).toBe(200)
    await sources.pull(org, id)
    expect(askedOf('patched')).toHaveLength(0)
    expect((await patch(id, 'active')).body.data.status).toBe('active')
    await sources.pull(org, id)
    expect(await sources.show(org, id)).toMatchObject({ status: 'completed', lead_count: 4 })
  })

  it('completed may change, and pulls nothing again', async () => {
    lists.set('completed', { items: itemsOf(1) })
    const id = await sources.create(org, 'paged_once', { list: 'completed' })
    await sources.pull(org, id)
    expect((await patch(id, 'paused')).status).toBe(200)
    expect((await patch(id, 'active')).status).toBe(200)
    await sources.pull(org, id)
    expect(askedOf('completed')).toHaveLength(1)
    expect(await sources.show(org, id)).toMatchObject({ status: 'active' })
  })

  it('deleted is 404', async () => {
    lists.set('deleted', { items: itemsOf(1) })
    const id = await sources.create(org, 'paged_once', { list: 'deleted' })
    await sources.pull(org, id)
    await deleteSource(app.store.system, OPERATOR, { org_id: org.orgId, instance_id: id })
    expect((await patch(id, 'active')).status).toBe(404)
    expect(
      (await org.call('GET', '/sources')).body.data.map((one: { name: string }) => one.name),
    ).not.toContain(id)
  })

  it.each([[{}], [{ status: 'completed' }], [{ status: null }], [undefined]])('refuses %j', async (body) => {
    lists.set('refused', { items: itemsOf(1) })
    const id = await sources.create(org, 'paged_once', { list: 'refused' })
    expect((await org.call('PATCH', `/sources/${id}/status`, body)).status).toBe(400)
  })

  it('pausing stops a pull at its current page', async () => {
    let id = ''
    let paused = false
    lists.set('stopped', {
      items: itemsOf(8),
      // The page is answered once the source is paused: the pull then has it at hand, and asks for no other.
      async answer({ token }) {
        if (token === 4 && !paused) await patch(id, 'paused')
        paused ||= token === 4
        return null
      },
    })
    id = await sources.create(org, 'paged_once', { list: 'stopped' })
    await sources.pull(org, id)
    const { status, lead_count } = await sources.show(org, id)
    expect({ status, isPart: lead_count < 8 }).toEqual({ status: 'paused', isPart: true })
    await patch(id, 'active')
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(8))
  })
})

it('F35: of the sources that lost their job, each organisation has one before another has its second', async () => {
  const [many, few] = [await app.makeOrg(), await app.makeOrg()]
  lists.set('late', { items: itemsOf(1) })
  const make = async (owner: TestOrg, minutesLate: number) => {
    const id = await sources.create(owner, 'paged_tracked', { list: 'late', schedule: '0 0 1 1 *' })
    await sources.set(id, `next_pull_at = now() - interval '${minutesLate} minutes', claimed_until = null`)
    return id
  }
  for (const owner of [many, few]) await connectPaged(app, owner)
  const early = [await make(many, 90), await make(many, 80), await make(many, 70)]
  const late = await make(few, 10)
  const found = await listOverdueSources(app.store.system, 120, 500)
  const order = found.map((key) => key.instance_id).filter((id) => id === late || early.includes(id))
  expect(order).toEqual([early[0], late, early[1], early[2]])
})
