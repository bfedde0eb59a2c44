import { beforeAll, describe, expect, it } from 'vitest'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { runPull } from './pull-job.ts'
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

describe('an import', () => {
  it('imports every record once, in order, and is completed then', async () => {
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

  it('are written up to a refused one, which is not requested a second time', async () => {
    lists.set('broken off', {
      items: itemsOf(20),
      answer: ({ token }) => (token === 6 ? { status: 429, headers: { 'retry-after': '30' } } : null),
    })
    const state = await runTogether('broken off')
    expect(state).toMatchObject({ status: 'active', lead_count: 6, pull_under_way: { pages: 3 } })
    expect(askedOf('broken off').map(({ token }) => token)).toEqual([0, 2, 4, 6])
  })

  it('may be larger than requested', async () => {
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

  it('repeats a page token ends the pull, and is not called for ever', async () => {
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

  it('sends empty pages, first or in the middle, is read further', async () => {
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

  it('sends nothing but empty pages is not called for ever', async () => {
    lists.set('void', {
      items: [],
      answer: ({ token }) => ({ json: { items: [], next: String(token + 1) } }),
    })
    const { state } = await pullOf('void')
    expect(state.status).toBe('completed')
    expect(state.last_pull.note).toContain('100 pages in a row were empty')
    expect(askedOf('void')).toHaveLength(100)
  })

  it('repeats records, on a page and across pages, imports each once', async () => {
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

  it('sends values that PostgreSQL cannot store is still read', async () => {
    lists.set('odd', {
      items: [
        { id: 'k'.repeat(5000), name: 'a\0b\uD800' },
        { id: '\0', name: 'nul' },
        { id: '', name: 'empty' },
      ],
    })
    expect((await pullOf('odd')).names).toEqual(['a\uFFFDb\uFFFD', 'nul', 'empty'])
  })

  it('answers "not found" is an empty import', async () => {
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

  it('429 postpones the pull by Retry-After, and it continues at the page', async () => {
    let isBusy = true
    const before = Date.now()
    const id = await midway('busy', () => (isBusy ? { status: 429, headers: { 'retry-after': '40' } } : null))
    const parked = await sources.show(org, id)
    expect(parked).toMatchObject({
      status: 'active',
      lead_count: 2,
      pull_under_way: { new: 2, pages: 1 },
      last_error: {
        message: expect.stringContaining('its rate limit is reached (HTTP 429)'),
        hint: 'it is retried automatically',
      },
    })
    const nextPull = Date.parse(parked.next_pull_at)
    expect(nextPull).toBeGreaterThan(before + 39_000)
    expect(nextPull).toBeLessThan(Date.now() + 45_000)
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

  it('5xx is retried with growing delays, and finally paused with what to do', async () => {
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

  it('a refused key pauses the source and says what to connect; resumed, it continues at the page', async () => {
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

  it('a deleted key pauses the source', async () => {
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

  it('a page that is not ready yet occupies no worker', async () => {
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
