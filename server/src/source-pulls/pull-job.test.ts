import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/store/organisation/audit.ts'
import { grantCredits, getBalance } from '#server/store/organisation/credits.ts'
import type { TestOrg } from '#test/harness.ts'
import { runPull } from './pull-job.ts'
import { deleteSource } from './status.ts'
import { sweepSources } from './sweep.ts'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp()
const { app, lists, asked } = sources
const paying = await makeSourceApp({ LOAM_PROVIDER_KEY_PAGED: 'platform key' })
const NEVER = new AbortController().signal
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
  await connectPaged(app, org)
})

const nameAll = (count: number, from = 1) => itemsOf(count, from).map(({ name }) => name)
const askedOf = (list: string) => asked.filter((one) => one.list === list)

describe('an import', () => {
  it('brings every record once, in order, and is completed then', async () => {
    lists.set('plain', { items: itemsOf(5) })
    const id = await sources.create(org, 'paged_once', { list: 'plain' })
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(5))
    expect(await sources.show(org, id)).toMatchObject({
      status: 'completed',
      lead_count: 5,
      next_pull_at: null,
      pull_under_way: null,
      last_error: null,
      credits_spent: 0,
      last_pull: { new: 5, updated: 0, unchanged: 0, skipped: 0, pages: 3, note: null },
    })
    await sources.pull(org, id)
    expect(askedOf('plain')).toHaveLength(3)
  })

  it('max_count is a hard cap', async () => {
    lists.set('capped', { items: itemsOf(9), pageSize: 4 })
    const id = await sources.create(org, 'paged_once', { list: 'capped', max_count: 6 })
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(6))
    expect(await sources.show(org, id)).toMatchObject({
      status: 'completed',
      lead_count: 6,
      last_pull: { note: 'max_count was reached' },
    })
    expect(askedOf('capped').map(({ limit }) => limit)).toEqual([6, 2])
  })

  it('data is paged, and a page past the end is empty (D39)', async () => {
    lists.set('pages', { items: itemsOf(7) })
    const id = await sources.create(org, 'paged_once', { list: 'pages' })
    await sources.pull(org, id)
    const page = async (query: string) => (await org.call('GET', `/sources/${id}/data${query}`)).body.data
    expect(await page('')).toMatchObject({ total_count: 7, page_no: 1, page_size: 20 })
    expect((await page('?page_no=3&page_size=3')).rows).toEqual([{ name: 'item 7', email: null, at: null }])
    expect((await page('?page_no=4&page_size=3')).rows).toEqual([])
    for (const query of ['?page_size=201', '?page_no=0', '?page_size=x'])
      expect((await org.call('GET', `/sources/${id}/data${query}`)).status).toBe(400)
  })
})

describe('pages that come at once', () => {
  const runTogether = async (list: string) => {
    const { batches: _each, ...parts } = sources.parts
    const id = await sources.create(org, 'paged_once', { list })
    await runPull(parts, { org_id: org.orgId, instance_id: id }, NEVER)
    return sources.show(org, id)
  }

  it('are written together, with the records of each once', async () => {
    const items = itemsOf(60)
    lists.set('together', { items: [...items, ...items.slice(0, 5)], pageSize: 5 })
    const state = await runTogether('together')
    expect(state).toMatchObject({ status: 'completed', lead_count: 60, last_pull: { pages: 13, new: 60 } })
  })

  it('and one that is refused leave those before, and it is not asked for a second time', async () => {
    lists.set('broken off', {
      items: itemsOf(20),
      answer: ({ token }) => (token === 6 ? { status: 429, headers: { 'retry-after': '30' } } : null),
    })
    const state = await runTogether('broken off')
    expect(state).toMatchObject({ status: 'active', lead_count: 6, pull_under_way: { pages: 3 } })
    expect(askedOf('broken off').map(({ token }) => token)).toEqual([0, 2, 4, 6])
  })

  it('may be larger than what was asked for', async () => {
    lists.set('large', { items: itemsOf(5000), pageSize: 2500 })
    expect(await runTogether('large')).toMatchObject({ status: 'completed', lead_count: 5000 })
  })
})

describe('a provider that', () => {
  const pullOf = async (list: string) => {
    const id = await sources.create(org, 'paged_once', { list })
    await sources.pull(org, id)
    return { id, state: await sources.show(org, id), names: await sources.names(org, id) }
  }

  it('repeats a page token ends the pull, and is not asked for ever', async () => {
    lists.set('repeats', {
      items: [],
      answer: ({ token }) => ({
        json: { items: itemsOf(2, token + 1), next: token < 6 ? String(token + 2) : '2' },
      }),
    })
    const { state, names } = await pullOf('repeats')
    expect(names).toEqual(nameAll(8))
    expect(state.status).toBe('completed')
    expect(state.last_pull.note).toContain('read already')
    expect(askedOf('repeats').length).toBeLessThan(16)
  })

  it('names the same page as the next ends the pull at once', async () => {
    lists.set('same', {
      items: [],
      answer: ({ token }) => ({ json: { items: itemsOf(1), next: String(token || 7) } }),
    })
    const { state } = await pullOf('same')
    expect(state).toMatchObject({ status: 'completed', lead_count: 1 })
    expect(askedOf('same')).toHaveLength(2)
  })

  it('sends empty pages, first or in the middle, is asked on', async () => {
    lists.set('gaps', {
      items: [],
      answer: ({ token }) => ({
        json: {
          items: [0, 2, 3].includes(token) ? [] : itemsOf(1, token),
          next: token < 5 ? String(token + 1) : null,
        },
      }),
    })
    expect((await pullOf('gaps')).names).toEqual(['item 1', 'item 4', 'item 5'])
  })

  it('sends nothing but empty pages is not asked for ever', async () => {
    lists.set('void', {
      items: [],
      answer: ({ token }) => ({ json: { items: [], next: String(token + 1) } }),
    })
    const { state } = await pullOf('void')
    expect(state.status).toBe('completed')
    expect(state.last_pull.note).toContain('100 pages in a row were empty')
    expect(askedOf('void')).toHaveLength(100)
  })

  it('repeats records, on a page and across pages, brings each once', async () => {
    lists.set('overlap', {
      items: [1, 2, 2, 2, 3, 1, 4].map((id) => ({ id, name: `item ${id}`, at: '2026-01-01' })),
      pageSize: 3,
    })
    const { names, state } = await pullOf('overlap')
    expect(names).toEqual(nameAll(4))
    expect(state.lead_count).toBe(4)
  })

  it('masks records has them counted, not imported', async () => {
    lists.set('masked', {
      items: [
        { id: 1, name: 'Ann Lee', email: 'ann@acme.example' },
        { id: 2, name: 'Hu***n' },
        { id: 3, name: 'Bo', email: 'b***@acme.example' },
      ],
    })
    const { names, state } = await pullOf('masked')
    expect(names).toEqual(['Ann Lee'])
    expect(state.last_pull).toMatchObject({ new: 1, skipped: 2 })
  })

  it('sends what PostgreSQL cannot hold is read all the same', async () => {
    lists.set('odd', {
      items: [
        { id: 'k'.repeat(5000), name: 'a\0b\uD800' },
        { id: '\0', name: 'nul' },
        { id: '', name: 'empty' },
      ],
    })
    expect((await pullOf('odd')).names).toEqual(['a\uFFFDb\uFFFD', 'nul', 'empty'])
  })

  it('says that there is none is an empty import', async () => {
    const { state } = await pullOf('nowhere')
    expect(state).toMatchObject({ status: 'completed', lead_count: 0, last_error: null })
  })
})

describe('faults of a page', () => {
  const midway = async (
    list: string,
    reply: () => { status: number; headers?: Record<string, string> } | null,
  ) => {
    lists.set(list, { items: itemsOf(6), answer: ({ token }) => (token === 2 ? reply() : null) })
    const id = await sources.create(org, 'paged_once', { list })
    await sources.pull(org, id)
    return id
  }

  it('429 parks the pull as long as Retry-After says, and it goes on at the page', async () => {
    let isBusy = true
    const id = await midway('busy', () => (isBusy ? { status: 429, headers: { 'retry-after': '40' } } : null))
    const parked = await sources.show(org, id)
    expect(parked).toMatchObject({
      status: 'active',
      lead_count: 2,
      pull_under_way: { new: 2, pages: 1 },
      last_error: { message: expect.stringContaining('slow down'), hint: 'it is tried again by itself' },
    })
    const waits = Date.parse(parked.next_pull_at) - Date.now()
    expect(waits).toBeGreaterThan(30_000)
    expect(waits).toBeLessThan(45_000)
    const count = asked.length
    await sources.pull(org, id)
    expect(asked.length).toBe(count)
    isBusy = false
    await sources.set(id, 'next_pull_at = now()')
    await sources.pull(org, id)
    expect(asked.slice(count).map(({ token }) => token)).toEqual([2, 4])
    expect(await sources.names(org, id)).toEqual(nameAll(6))
    expect(await sources.show(org, id)).toMatchObject({ status: 'completed', last_error: null })
  })

  it('5xx is tried again with growing pauses, and paused in the end with what to do', async () => {
    const id = await midway('down', () => ({ status: 503 }))
    const pauses: number[] = []
    for (let tries = 0; tries < 20; tries += 1) {
      const state = await sources.show(org, id)
      if (state.status !== 'active') break
      pauses.push(Date.parse(state.next_pull_at) - Date.now())
      await sources.set(id, 'next_pull_at = now()')
      await sources.pull(org, id)
    }
    expect(pauses.length).toBe(15)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(3600_000)
    expect(pauses[9]).toBeGreaterThan((pauses[0] ?? 0) * 10)
    const state = await sources.show(org, id)
    expect(state).toMatchObject({ status: 'paused', lead_count: 2, failures_in_a_row: 16 })
    expect(state.last_error.hint).toContain('then resume the source')
  })

  it('a refused key pauses the source and says what to connect; resumed, it goes on at the page', async () => {
    let isExpired = true
    const id = await midway('expired', () => (isExpired ? { status: 401 } : null))
    const state = await sources.show(org, id)
    expect(state).toMatchObject({ status: 'paused', lead_count: 2 })
    expect(state.last_error.hint).toContain('loam connection add --provider paged')
    isExpired = false
    expect((await org.call('PATCH', `/sources/${id}/status`, { status: 'active' })).status).toBe(200)
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(6))
  })

  it('a key that is gone pauses the source', async () => {
    const other = await app.makeOrg()
    await connectPaged(app, other)
    lists.set('gone', { items: itemsOf(2) })
    const id = await sources.create(other, 'paged_once', { list: 'gone' })
    await app.store.query({ text: 'delete from connections where org_id = $1', values: [other.orgId] })
    await sources.pull(other, id)
    const state = await sources.show(other, id)
    expect(state).toMatchObject({ status: 'paused', lead_count: 0 })
    expect(state.last_error.message).toContain('which is not connected')
  })

  it.each([
    ['a monthly quota', { status: 402 }, 'active'],
    ['a malformed answer', { text: '{"items": [{' }, 'active'],
    ['an answer of the wrong type', { json: [] }, 'active'],
    ['a refused question', { status: 400 }, 'paused'],
  ])('%s leaves what was imported, and an error with a hint', async (list, reply, status) => {
    const id = await midway(list, () => reply as { status: number })
    const state = await sources.show(org, id)
    expect(state).toMatchObject({ status, lead_count: 2, last_error: { hint: expect.any(String) } })
  })

  it('a page that is not ready is waited for without a worker', async () => {
    lists.set('slow', {
      items: [],
      answer: ({ token }, place) => ({
        json:
          place === 0 ? { items: [], next: 'ready', after_ms: 60_000 } : { items: itemsOf(1, token || 1) },
      }),
    })
    const id = await sources.create(org, 'paged_once', { list: 'slow' })
    await sources.pull(org, id)
    const state = await sources.show(org, id)
    expect(state).toMatchObject({ status: 'active', last_error: null })
    expect(Date.parse(state.next_pull_at) - Date.now()).toBeGreaterThan(50_000)
    await sources.set(id, 'next_pull_at = now()')
    await sources.pull(org, id)
    expect(await sources.show(org, id)).toMatchObject({ status: 'completed', lead_count: 1 })
  })
})

describe('recurring pulls', () => {
  it('go by the schedule, keep what is known and take what is new or changed', async () => {
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

  it('start where the pull before said, and equal timestamps lose nothing', async () => {
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

  it('end at their date: the source is expired, which cannot be changed', async () => {
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
        text: `select 1 from graphile_worker.jobs where key = $1`,
        values: [`pull_source:${lost}`],
      })
    await app.store.query({ text: 'select graphile_worker.remove_job($1)', values: [`pull_source:${lost}`] })
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

  it('pausing stops a pull at the page at hand', async () => {
    let id = ''
    const pausing: Promise<unknown>[] = []
    lists.set('stopped', {
      items: itemsOf(8),
      answer: ({ token }) => {
        if (token === 4 && pausing.length === 0) pausing.push(patch(id, 'paused'))
        return null
      },
    })
    id = await sources.create(org, 'paged_once', { list: 'stopped' })
    await sources.pull(org, id)
    await Promise.all(pausing)
    const { status, lead_count } = await sources.show(org, id)
    expect({ status, isPart: lead_count < 8 }).toEqual({ status: 'paused', isPart: true })
    await patch(id, 'active')
    await sources.pull(org, id)
    expect(await sources.names(org, id)).toEqual(nameAll(8))
  })
})

describe('credits (D22)', () => {
  const balanceOf = async (payer: TestOrg) => (await getBalance(paying.app.store.system, payer.orgId)) ?? 0
  const heldBy = async (payer: TestOrg) =>
    (
      await paying.app.store.query<{ held: number }>({
        text: 'select held_millis as held from organisations where org_id = $1',
        values: [payer.orgId],
      })
    )[0]?.held
  const makePayer = async (credits: number) => {
    const payer = await paying.app.makeOrg()
    await paying.app.store.query({
      text: 'update organisations set credits_millis = $2 where org_id = $1',
      values: [payer.orgId, credits * 1000],
    })
    return payer
  }

  it("are charged for new records on the platform's key, with a ledger entry per page", async () => {
    const items = itemsOf(5)
    paying.lists.set('paid', { items })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_tracked', { list: 'paid' })
    await paying.pull(payer, id)
    expect(await balanceOf(payer)).toBe(995_000)
    expect(await heldBy(payer)).toBe(0)
    const entries = await paying.app.store.query<{ amount_millis: number; details: object }>({
      text: `select amount_millis, details from credit_entries where org_id = $1 and reason = 'source' order by entry_id`,
      values: [payer.orgId],
    })
    expect(entries.map(({ amount_millis }) => amount_millis)).toEqual([-2000, -2000, -1000])
    expect(entries[0]?.details).toEqual({ source_instance_id: id, source_id: 'paged_tracked', records: 2 })
    items[0] = { id: 1, name: 'changed' }
    await paying.set(id, 'next_pull_at = now()')
    await paying.pull(payer, id)
    expect(await balanceOf(payer)).toBe(995_000)
    expect(await paying.show(payer, id)).toMatchObject({
      credits_spent: 5,
      last_pull: { new: 0, updated: 1 },
    })
  })

  it('running out pauses the source; when they come back it goes on where it was', async () => {
    paying.lists.set('poor', { items: itemsOf(7), pageSize: 4 })
    const payer = await makePayer(3)
    const id = await paying.create(payer, 'paged_once', { list: 'poor' })
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({
      status: 'paused_out_of_credits',
      lead_count: 3,
      credits_spent: 3,
    })
    expect([await balanceOf(payer), await heldBy(payer)]).toEqual([0, 0])
    await sweepSources(paying.app.store, NEVER)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits' })
    await paying.app.store.system
      .transaction()
      .execute((trx) => grantCredits(trx, payer.orgId, { amountMillis: 2000, reason: 'test' }))
    await sweepSources(paying.app.store, NEVER)
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits', lead_count: 5 })
    await paying.app.store.system
      .transaction()
      .execute((trx) => grantCredits(trx, payer.orgId, { amountMillis: 50_000, reason: 'test' }))
    expect((await payer.call('PATCH', `/sources/${id}/status`, { status: 'active' })).status).toBe(200)
    await paying.pull(payer, id)
    expect(await paying.names(payer, id)).toEqual(nameAll(7))
    expect(await balanceOf(payer)).toBe(48_000)
  })

  it('max_credits is a hard cap, and does not come back with credits', async () => {
    paying.lists.set('limited', { items: itemsOf(9), pageSize: 4 })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_once', { list: 'limited', max_credits: 5.5 })
    await paying.pull(payer, id)
    await sweepSources(paying.app.store, NEVER)
    const state = await paying.show(payer, id)
    expect(state).toMatchObject({ status: 'paused_out_of_credits', lead_count: 5, credits_spent: 5 })
    expect(state.last_error.message).toContain('max_credits of 5.5 is used up')
    expect(await balanceOf(payer)).toBe(995_000)
  })

  it('max_credits of 0 pulls only what is free', async () => {
    paying.lists.set('free', { items: itemsOf(3) })
    const payer = await makePayer(1000)
    const before = paying.asked.length
    const id = await paying.create(payer, 'paged_once', { list: 'free', max_credits: 0 })
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits', lead_count: 0 })
    expect(paying.asked.length).toBe(before)
    await connectPaged(paying.app, payer)
    const own = await paying.create(payer, 'paged_once', { list: 'free', max_credits: 0 })
    await paying.pull(payer, own)
    expect(await paying.show(payer, own)).toMatchObject({
      status: 'completed',
      lead_count: 3,
      credits_spent: 0,
    })
    expect(await balanceOf(payer)).toBe(1_000_000)
  })

  it('set aside for a page are given back when it is refused or the source is paused', async () => {
    paying.lists.set('refused', { items: itemsOf(3), answer: () => ({ status: 503 }) })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_once', { list: 'refused' })
    await paying.pull(payer, id)
    expect(await heldBy(payer)).toBe(0)
    paying.lists.set('refused', {
      items: itemsOf(3),
      answer: () => {
        void payer.call('PATCH', `/sources/${id}/status`, { status: 'paused' })
        return null
      },
    })
    await paying.set(id, 'next_pull_at = now()')
    await paying.pull(payer, id)
    await payer.call('PATCH', `/sources/${id}/status`, { status: 'paused' })
    expect([await balanceOf(payer), await heldBy(payer)]).toEqual([
      1_000_000 - (await paying.show(payer, id)).lead_count * 1000,
      0,
    ])
  })
})
