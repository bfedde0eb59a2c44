import { beforeAll, describe, expect, it } from 'vitest'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { forgetVisitors } from '../../store/source-lookups.ts'
import { deleteSource } from '../status.ts'
import { ACME, ACME_SIX, GLOBEX, HOME, LIAR, makeVisitorApp, NOBODY } from '../testing/visitor-app.ts'

const visitors = await makeVisitorApp({ LOAM_PROVIDER_KEY_IPINFO: 'platform key' })
const { app, asked, known, names } = visitors
known.set(GLOBEX, {
  json: { ip: GLOBEX, company: { name: 'Globex Inc.', domain: 'globex.com', type: 'business' } },
})

let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const track = (body?: object, owner = org) => visitors.track(owner, body)

describe('the company of a visit', () => {
  it('one record per company with pages, first_seen, last_seen and visits; a later visit updates it', async () => {
    const { id, pixel, work, rows, show } = await track()
    await visitors.visit(pixel, {
      url: 'https://shop.example.com/a?utm_source=mail&email=a@b.c#top',
      referrer: 'https://search.example/q?x=1',
    })
    await work()
    const [first] = await rows()
    expect(first).toEqual({
      company: 'acme.com',
      domain: 'acme.com',
      pages: ['https://shop.example.com/a?utm_source=mail'],
      last_page: 'https://shop.example.com/a?utm_source=mail',
      referrer: 'https://search.example/q',
      page_views: 1,
      visits: 1,
      first_seen: expect.any(String),
      last_seen: first?.['first_seen'],
      found_by: 'reverse_dns',
    })
    await visitors.visit(pixel, { url: 'https://shop.example.com/b' })
    await visitors.visit(pixel, {
      url: 'https://www.shop.example.com/c',
      agent: 'Mozilla/5.0 (Macintosh) Firefox/140.0',
    })
    await visitors.visit(pixel, { url: 'https://shop.example.com/b', from: ACME_SIX })
    await work()
    const [again, ...others] = await rows()
    expect(others).toEqual([])
    expect(again).toMatchObject({
      pages: [
        'https://shop.example.com/a?utm_source=mail',
        'https://www.shop.example.com/c',
        'https://shop.example.com/b',
      ],
      page_views: 4,
      // The same browser at the same address counts as one visit a day.
      visits: 3,
      first_seen: first?.['first_seen'],
    })
    expect(await show()).toMatchObject({
      status: 'active',
      lead_count: 1,
      credits_spent: 0,
      provider: 'pixel',
      schedule: null,
      last_error: null,
      received: { total: 4, unresolved: 0, waiting: 0, last_at: expect.any(String) },
    })
    expect(await visitors.count('source_inbox', id)).toBe(0)
  })

  it('is found by reverse DNS that resolves back, then by IPinfo; access networks are ignored', async () => {
    const { pixel, work, rows, show } = await track()
    for (const from of [LIAR, HOME, NOBODY, GLOBEX]) await visitors.visit(pixel, { from })
    await work()
    expect(await rows()).toMatchObject([{ company: 'Globex Inc.', domain: 'globex.com', found_by: 'ipinfo' }])
    expect(await show()).toMatchObject({
      lead_count: 1,
      received: { total: 4, unresolved: 3 },
      credits_spent: 1,
    })
  })

  it('an address is looked up once a day, also if it is unknown', async () => {
    const { pixel, work, show } = await track()
    const from = '93.184.216.77'
    const { length } = asked
    for (const url of ['https://shop.example.com/1', 'https://shop.example.com/2']) {
      await visitors.visit(pixel, { from, url })
      await work()
    }
    expect(asked.slice(length)).toEqual([from])
    expect((await show()).received).toMatchObject({ total: 2, unresolved: 2 })
  })

  it.each([
    '10.1.2.3',
    '127.0.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.1.1',
    '::1',
    'fd00::1',
    'fe80::1',
    '::ffff:10.0.0.1',
  ])('the private address %s is never looked up', async (from) => {
    const { pixel, work, show } = await track()
    const [before, beforeNames] = [asked.length, names.asked.length]
    expect((await visitors.visit(pixel, { from })).statusCode).toBe(204)
    await work()
    expect([asked.length, names.asked.length]).toEqual([before, beforeNames])
    expect((await show()).received).toMatchObject({ total: 1, unresolved: 1 })
  })

  it('a failing provider postpones visits, and later ones continue after some attempts', async () => {
    const from = '93.184.216.50'
    known.set(from, { status: 503 })
    const { id, pixel, work, show, rows } = await track()
    await visitors.visit(pixel, { from })
    await work()
    expect(await show()).toMatchObject({
      status: 'active',
      failures_in_a_row: 1,
      received: { waiting: 1, unresolved: 0 },
    })
    expect((await show()).last_error.message).toContain('IPinfo')
    for (let tries = 0; tries < 5; tries += 1) {
      await visitors.set(id, 'next_pull_at = now()')
      await work()
    }
    expect(await show()).toMatchObject({ status: 'active', received: { waiting: 0, unresolved: 1 } })
    known.set(from, { json: { company: { name: 'Back', domain: 'back.com', type: 'business' } } })
    await visitors.visit(pixel, { from })
    await work()
    expect(await rows()).toMatchObject([{ domain: 'back.com' }])
    expect(await show()).toMatchObject({ last_error: null, failures_in_a_row: 0 })
  })

  it('a refused key pauses nothing: reverse DNS continues, and the source says what to do', async () => {
    const from = '93.184.216.51'
    known.set(from, { status: 401 })
    const { pixel, work, show, rows } = await track()
    await visitors.visit(pixel, { from })
    await visitors.visit(pixel)
    await work()
    expect(await rows()).toMatchObject([{ domain: 'acme.com' }])
    expect(await show()).toMatchObject({
      status: 'active',
      last_error: { hint: expect.stringContaining('ipinfo') },
    })
  })
})

describe('privacy', () => {
  it('the address of a visitor is only stored sealed, until it is looked up', async () => {
    const { id, pixel, work } = await track()
    const dump = async () => {
      const tables = [
        'source_inbox',
        'source_visits',
        'source_lookups',
        'source_records',
        'sources',
        'rate_windows',
      ]
      const parts = await Promise.all(
        tables.map((table) =>
          app.store.query<{ text: string }>({
            text: `select ${table}::text as text from ${table}`,
            values: [],
          }),
        ),
      )
      return parts
        .flat()
        .map(({ text }) => text)
        .join('\n')
    }
    await visitors.visit(pixel)
    expect(await visitors.count('source_inbox', id)).toBe(1)
    expect(await dump()).not.toContain(ACME)
    await work()
    expect(await visitors.count('source_inbox', id)).toBe(0)
    const left = await dump()
    expect(left).toContain('acme.com')
    expect(left).not.toContain(ACME)
    expect(left).not.toContain('Chrome/140')
  })

  it('visits not resolved within a day are deleted and counted; hashes and salts of past days are deleted', async () => {
    const { id, pixel, work, show } = await track()
    await visitors.visit(pixel)
    await work()
    await visitors.visit(pixel, { url: 'https://shop.example.com/late' })
    await app.store.query({
      text: `update source_inbox set at = at - interval '25 hours' where instance_id = $1`,
      values: [id],
    })
    await app.store.query({
      text: `update source_visits set at = at - interval '49 hours' where instance_id = $1`,
      values: [id],
    })
    await app.store.query({ text: `insert into visit_salts values (current_date - 2, '\\x00')`, values: [] })
    while (await forgetVisitors(app.store.system));
    expect(await visitors.count('source_inbox', id)).toBe(0)
    expect(await visitors.count('source_visits', id)).toBe(0)
    const salts = await app.store.query<{ count: number }>({
      text: `select count(*)::int as count from visit_salts where day < (now() at time zone 'UTC')::date`,
      values: [],
    })
    expect(salts[0]?.count).toBe(0)
    expect((await show()).received).toMatchObject({ total: 2, unresolved: 1, waiting: 0 })
  })
})

describe('as every source', () => {
  it('paused, expired and completed it drops beacons with 204; resumed it takes them again; deleted it is 404', async () => {
    const { id, pixel, work, show } = await track()
    const status = (to: string) => org.call('PATCH', `/sources/${id}/status`, { status: to })
    expect((await status('paused')).status).toBe(200)
    expect((await visitors.visit(pixel)).statusCode).toBe(204)
    expect((await show()).received.total).toBe(0)
    await status('active')
    await visitors.visit(pixel)
    // An item that waits while the source is paused is processed after the resume.
    await status('paused')
    await work()
    expect(await show()).toMatchObject({ lead_count: 0, received: { waiting: 1 } })
    await status('active')
    await work()
    expect(await show()).toMatchObject({ lead_count: 1, received: { waiting: 0 } })
    for (const gone of ['completed', 'expired']) {
      await visitors.set(id, `status = '${gone}'`)
      expect((await visitors.visit(pixel)).statusCode).toBe(204)
    }
    expect((await show()).received.total).toBe(1)
    await deleteSource(
      app.store.system,
      { email: 'a@example.com', keyId: null },
      { org_id: org.orgId, instance_id: id },
    )
    expect((await visitors.visit(pixel)).statusCode).toBe(404)
  })

  it('stop_at ends it, with waiting visits', async () => {
    const { id, pixel, work, show } = await track({ stop_at: '2999-01-01T00:00:00Z' })
    expect(await show()).toMatchObject({ expiration_date: '2999-01-01T00:00:00.000Z' })
    await visitors.visit(pixel)
    await visitors.set(id, `stop_at = now() - interval '1 second'`)
    await work()
    expect(await show()).toMatchObject({ status: 'expired', lead_count: 0 })
  })

  it('max_count completes it', async () => {
    const { pixel, work, show } = await track({ max_count: 1 })
    await visitors.visit(pixel)
    await visitors.visit(pixel, { from: GLOBEX })
    await work()
    expect(await show()).toMatchObject({ status: 'completed', lead_count: 1 })
  })

  it('a new company found by IPinfo is charged once; max_credits: 0 allows only free lookups', async () => {
    const paid = await track()
    for (const url of ['https://shop.example.com/1', 'https://shop.example.com/2']) {
      await visitors.visit(paid.pixel, { from: GLOBEX, url })
      await paid.work()
    }
    expect(await paid.show()).toMatchObject({ credits_spent: 1, lead_count: 1 })
    const free = await track({ max_credits: 0 })
    await visitors.visit(free.pixel, { from: GLOBEX })
    await visitors.visit(free.pixel)
    await free.work()
    expect(await free.rows()).toMatchObject([{ domain: 'acme.com' }])
    expect(await free.show()).toMatchObject({
      status: 'active',
      credits_spent: 0,
      received: { unresolved: 1 },
    })
  })

  it('D49 without credits it is paused_out_of_credits, and continues with the waiting visits', async () => {
    const poor = await app.makeOrg()
    const { id, pixel, work, show } = await track({}, poor)
    const setCredits = (millis: number) =>
      app.store.query({
        text: 'update organisations set credits_millis = $2 where org_id = $1',
        values: [poor.orgId, millis],
      })
    await setCredits(0)
    await visitors.visit(pixel, { from: GLOBEX })
    await work()
    expect(await show()).toMatchObject({ status: 'paused_out_of_credits', received: { waiting: 1 } })
    await setCredits(5000)
    await visitors.set(id, `status = 'active'`)
    await work()
    expect(await show()).toMatchObject({ lead_count: 1, credits_spent: 1, received: { waiting: 0 } })
  })

  it('a sync brings what is there and what comes into the workflow, and on_change updates the row', async () => {
    const { id, pixel, work } = await track()
    await visitors.visit(pixel)
    await work()
    const { body } = await org.call('POST', '/workflows', { name: 'Visitors' })
    const workflowId: string = body.data.workflow_id
    const base = `/workflows/${workflowId}/sheets/${workflowId}`
    await org.call('POST', `${base}/inputs`, [
      { name: 'company', type: 'string' },
      { name: 'page', type: 'string' },
      { name: 'visits', type: 'number' },
    ])
    const field_mapping = { 'input.company': 'domain', 'input.page': 'last_page', 'input.visits': 'visits' }
    const wrong = await org.call('POST', `/sources/${id}/sync`, {
      workflow_id: workflowId,
      field_mapping: { 'input.page': 'page' },
    })
    expect(wrong.status).toBe(400)
    const synced = await org.call('POST', `/sources/${id}/sync`, {
      workflow_id: workflowId,
      field_mapping,
      on_change: 'update',
    })
    expect(synced.status).toBe(201)
    await visitors.deliver(org, id, workflowId)
    const inputs = async () => {
      const listed = await org.call('POST', `${base}/rows/list`, {})
      return listed.body.data.rows.map((row: { inputs: object }) => row.inputs)
    }
    expect(await inputs()).toMatchObject([{ company: 'acme.com', page: 'https://shop.example.com/' }])
    await visitors.visit(pixel, { url: 'https://shop.example.com/prices' })
    await visitors.visit(pixel, { from: GLOBEX })
    await work()
    await visitors.deliver(org, id, workflowId)
    expect(await inputs()).toMatchObject([
      { company: 'acme.com', page: 'https://shop.example.com/prices' },
      { company: 'globex.com', page: 'https://shop.example.com/' },
    ])
  })
})
