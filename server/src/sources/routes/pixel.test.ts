import { sql } from 'kysely'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createInbox } from '#server/sources/pulls/inbox/inbox.ts'
import { ACME, makeVisitorApp } from '#server/sources/pulls/testing/visitor-app.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'

const visitors = await makeVisitorApp({ LOAM_PIXEL_PER_MINUTE: '100' })
const behind = await makeVisitorApp({ LOAM_TRUST_PROXY: 'true' })
const { app } = visitors
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const SLUG = 'track_website_visitors'
const received = async (id: string) => (await visitors.show(org, id)).received

describe('POST /sources/track_website_visitors', () => {
  it('create also returns pixel_id and pixel_script, and the source shows them again', async () => {
    const { status, body } = await org.call('POST', `/sources/${SLUG}`, {
      active_domain: ' Acme.COM ',
      name: 'Visits',
    })
    expect(status).toBe(201)
    const { pixel_id, pixel_script, source_instance_id } = body.data
    expect(body.data).toEqual({
      source_instance_id: expect.any(String),
      name: 'Visits',
      created_at: expect.any(String),
      pixel_id: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
      pixel_script: `<script async src="http://loam.test/pixel/${pixel_id}.js"></script>`,
    })
    expect(await visitors.show(org, source_instance_id)).toMatchObject({
      status: 'active',
      pixel_id,
      pixel_script,
      next_pull_at: null,
      received: { total: 0, unresolved: 0, waiting: 0, last_at: null },
    })
  })

  it('preview is empty, and stores nothing', async () => {
    const { status, body } = await org.call('POST', `/sources/${SLUG}/preview`, {
      active_domain: 'acme.com',
      limit: 5,
    })
    expect(status).toBe(200)
    expect(body).toEqual({ status: 200, data: [], metadata: { total_results: 0 } })
  })

  it('localhost is a site where LOAM_EGRESS_ALLOW has it, and a schedule is refused with the reason', async () => {
    const path = `/sources/${SLUG}`
    const shut = await makeVisitorApp({ LOAM_EGRESS_ALLOW: '10.0.0.1' })
    const refused = await (await shut.app.makeOrg()).call('POST', path, { active_domain: 'localhost' })
    expect(refused.body.errors).toEqual([
      { field: 'active_domain', message: expect.stringContaining('LOAM_EGRESS_ALLOW') },
    ])
    const local = await makeVisitorApp({ LOAM_EGRESS_ALLOW: 'localhost:3000' })
    const made = await (await local.app.makeOrg()).call('POST', path, { active_domain: 'localhost' })
    expect(made.status).toBe(201)
    const page = { url: 'http://localhost:3000/pricing', origin: 'http://localhost:3000' }
    expect((await local.visit(made.body.data.pixel_id, page)).statusCode).toBe(204)
    const scheduled = await org.call('POST', path, { active_domain: 'acme.com', schedule: 'hourly' })
    expect(scheduled.body.errors).toEqual([
      { field: 'schedule', message: expect.stringContaining('its records are made when visits arrive') },
    ])
  })

  it.each([
    [{}, 'active_domain'],
    [{ active_domain: 'https://acme.com/' }, 'active_domain'],
    [{ active_domain: 'acme.com/path' }, 'active_domain'],
    [{ active_domain: 'intranet' }, 'active_domain'],
    [{ active_domain: '192.0.2.1' }, 'active_domain'],
    [{ active_domain: 'co.uk' }, 'active_domain'],
    [{ active_domain: '*.acme.com' }, 'active_domain'],
    [{ active_domain: 'acme.com:8080' }, 'active_domain'],
    [{ active_domain: '"><script>.com' }, 'active_domain'],
    [{ active_domain: 7 }, 'active_domain'],
    [{ active_domain: 'acme.com', schedule: 'hourly' }, 'schedule'],
    [{ active_domain: 'acme.com', pull_existing: false }, 'pull_existing'],
    [{ active_domain: 'acme.com', provider: 'ipinfo' }, 'provider'],
    [{ active_domain: 'acme.com', connection_id: 'Main' }, 'connection_id'],
    [{ active_domain: 'acme.com', stop_at: '2001-01-01T00:00:00Z' }, 'stop_at'],
  ])('400 names what is wrong with %j', async (sent, field) => {
    for (const path of [`/sources/${SLUG}`, `/sources/${SLUG}/preview`]) {
      const { status, body } = await org.call('POST', path, sent)
      expect(status).toBe(400)
      expect(body.errors.map((error: { field: string }) => error.field)).toEqual([field])
    }
  })

  it('404 for the source of another organisation', async () => {
    const { source_instance_id } = await visitors.create(org)
    const other = await app.makeOrg()
    expect((await other.call('GET', `/sources/${source_instance_id}`)).status).toBe(404)
  })
})

describe('D10 GET /pixel/{pixel_id}.js', () => {
  it('serves the script: cacheable, of its type, without a cookie', async () => {
    const { pixel_id } = await visitors.create(org)
    const { statusCode, headers, body } = await app.api.inject({
      method: 'GET',
      url: `/pixel/${pixel_id}.js`,
    })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
    })
    expect(headers['set-cookie']).toBeUndefined()
    expect(body).not.toMatch(/document\.cookie|localStorage|sessionStorage|indexedDB/)
  })

  it.each([
    '/pixel/short.js',
    `/pixel/${'a'.repeat(40)}`,
    `/pixel/${'a'.repeat(39)}%00.js`,
    '/pixel/..%2F..%2Fetc.js',
  ])('404 for %s', async (url) => {
    expect((await app.api.inject({ method: 'GET', url })).statusCode).toBe(404)
  })
})

describe('D10 POST /pixel/{pixel_id}', () => {
  it.each(['text/plain;charset=UTF-8', 'application/json', 'application/x-www-form-urlencoded'])(
    'takes a beacon as %s, from any origin of the site, with 204',
    async (type) => {
      const { pixel_id, source_instance_id: id } = await visitors.create(org)
      const { statusCode, headers, body } = await visitors.visit(pixel_id, { type })
      expect([statusCode, body]).toEqual([204, ''])
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['set-cookie']).toBeUndefined()
      expect(await received(id)).toMatchObject({ total: 1, waiting: 1 })
    },
  )

  it('answers a browser that asks first', async () => {
    const { pixel_id } = await visitors.create(org)
    const { statusCode, headers } = await app.api.inject({ method: 'OPTIONS', url: `/pixel/${pixel_id}` })
    expect(statusCode).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type',
    })
  })

  it.each([
    ['a page of another site', { url: 'https://evil.example/' }],
    ['a site whose name ends alike', { url: 'https://notshop.example.com/' }],
    ['a site that has ours as a part', { url: 'https://shop.example.com.evil.example/' }],
    ['a page of another protocol', { url: 'javascript:alert(1)//shop.example.com' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin that is none', { origin: 'null' }],
    ['a bot', { agent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
    ['a program', { agent: 'curl/8.5.0' }],
    ['a browser without a window', { agent: 'Mozilla/5.0 HeadlessChrome/140.0 Safari/537.36' }],
    ['who does not say what it is', { agent: '' }],
  ])('drops %s with 204', async (_what, beacon) => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    expect((await visitors.visit(pixel_id, beacon)).statusCode).toBe(204)
    expect(await received(id)).toMatchObject({ total: 0 })
  })

  it.each([
    ['subdomains', { url: 'https://de.shop.example.com/x', origin: 'https://de.shop.example.com' }],
    ['no origin, as old browsers send', { origin: null }],
  ])('takes %s', async (_what, beacon) => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    await visitors.visit(pixel_id, beacon)
    expect(await received(id)).toMatchObject({ total: 1 })
  })

  it.each([
    ['no JSON', '{"url":'],
    ['no object', '[]'],
    ['no page', '{}'],
    ['a page that is no text', '{"url": 7}'],
    ['an endless page', JSON.stringify({ url: `https://shop.example.com/${'a'.repeat(3000)}` })],
    ['nothing', ''],
  ])('400 for %s', async (_what, body) => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    expect((await visitors.visit(pixel_id, { body })).statusCode).toBe(400)
    expect(await received(id)).toMatchObject({ total: 0 })
  })

  it('413 for a beacon of a megabyte, unread', async () => {
    const { pixel_id } = await visitors.create(org)
    const body = JSON.stringify({ url: 'https://shop.example.com/', title: 'x'.repeat(1_000_000) })
    const answer = await visitors.visit(pixel_id, { body })
    expect(answer.statusCode).toBe(413)
    expect(answer.json().message).toBe('The body must be at most 8192 bytes')
  })

  it('404 for a token of nobody, and for the address that another service posts to', async () => {
    expect((await visitors.visit('a'.repeat(40))).statusCode).toBe(404)
    expect((await visitors.visit('short')).statusCode).toBe(404)
    const { webhook_url = '' } = await visitors.create(org, {}, 'track_personal_website_visitors')
    expect((await visitors.visit(webhook_url.split('/').at(-1) ?? '')).statusCode).toBe(404)
  })

  it('an address has its limit, before the database is asked', async () => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    const answers = await Promise.all(Array.from({ length: 500 }, () => visitors.visit(pixel_id)))
    const taken = answers.filter(({ statusCode }) => statusCode === 204).length
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(500 - taken)
    // More than 60 are accepted only if the test took longer than a minute.
    expect(taken).toBeGreaterThanOrEqual(60)
    expect(taken).toBeLessThan(500)
    expect((await received(id)).total).toBe(taken)
  })

  it('many addresses together have the limit of the source, LOAM_PIXEL_PER_MINUTE', async () => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    const from = (n: number) => `93.184.${Math.floor(n / 250)}.${(n % 250) + 1}`
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, n) => visitors.visit(pixel_id, { from: from(n) })),
    )
    const taken = answers.filter(({ statusCode }) => statusCode === 204).length
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(500 - taken)
    expect(taken).toBeGreaterThanOrEqual(100)
    expect(taken).toBeLessThan(500)
    expect((await received(id)).total).toBe(taken)
  })

  it('what waits is bounded: a source whose worker is gone drops what comes after 10,000', async () => {
    const { pixel_id, source_instance_id: id } = await visitors.create(org)
    await app.store.query({
      text: `insert into source_inbox (org_id, instance_id, sealed) select $1, $2, 'x' from generate_series(1, 9999)`,
      values: [org.orgId, id],
    })
    for (let n = 0; n < 3; n += 1) expect((await visitors.visit(pixel_id)).statusCode).toBe(204)
    expect(await visitors.count('source_inbox', id)).toBe(10_000)
    expect(await received(id)).toMatchObject({ total: 1 })
  })
})

describe('LOAM_TRUST_PROXY', () => {
  it('decides whose address counts', async () => {
    const owner = await behind.app.makeOrg()
    const { pixel_id, source_instance_id: id } = await behind.create(owner)
    await behind.app.api.inject({
      method: 'POST',
      url: `/pixel/${pixel_id}`,
      remoteAddress: '10.0.0.1',
      headers: {
        'x-forwarded-for': ACME,
        'user-agent': 'Mozilla/5.0 Firefox/140.0',
        'content-type': 'text/plain',
      },
      payload: JSON.stringify({ url: 'https://shop.example.com/' }),
    })
    await behind.work(owner, id)
    expect(await behind.rows(owner, id)).toMatchObject([{ domain: 'acme.com' }])
  })
})

describe('track_personal_website_visitors', () => {
  const PERSON = {
    'LinkedIn URL': 'https://www.linkedin.com/in/ann/',
    'First Name': 'Ann',
    'Last Name': 'Lee',
    Title: 'CEO',
    'Company Name': 'Acme',
    'Business Email': 'Ann@acme.com',
    Website: 'https://www.acme.com',
    Industry: 'Software',
    'Employee Count': 60,
    'Estimate Revenue': '$22M rev',
    City: 'Austin',
    State: 'Texas',
    Zipcode: '73301',
    'Seen At': '2026-01-01T12:34:56.000Z',
    Referrer: 'https://search.example/?q=secret',
    'Captured URL': 'https://shop.example.com/pricing?token=secret',
    Tags: null,
  }

  async function make(body: object = {}) {
    const made = await visitors.create(org, body, 'track_personal_website_visitors')
    const { source_instance_id: id, webhook_url = '' } = made
    const post = (sent: unknown, url = new URL(webhook_url).pathname) =>
      app.api.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify(sent),
      })
    return { ...made, id, post, rows: () => visitors.rows(org, id), work: () => visitors.work(org, id) }
  }

  it('create returns the script, which loads that of RB2B, and the address where RB2B posts', async () => {
    const { pixel_id, pixel_script, webhook_url } = await make({ rb2b_key: 'EN4M0HKQZJOM' })
    expect(pixel_script).toBe(
      `<script async src="http://loam.test/pixel/${pixel_id}.js" data-rb2b="EN4M0HKQZJOM"></script>`,
    )
    expect(webhook_url).toMatch(/^http:\/\/loam\.test\/visitors\/[0-9A-Za-z]{40}$/)
    expect(webhook_url).not.toContain(pixel_id)
    const preview = await org.call('POST', '/sources/track_personal_website_visitors/preview', {
      active_domain: 'acme.com',
    })
    expect(preview.body.data).toEqual([])
    const bad = await org.call('POST', '/sources/track_personal_website_visitors', {
      active_domain: 'acme.com',
      rb2b_key: '"><',
    })
    expect(bad.body.errors).toMatchObject([{ field: 'rb2b_key' }])
  })

  it('whom RB2B identified is a record per person; the same delivery again changes nothing, a later one updates it', async () => {
    const { id, post, rows, work } = await make()
    expect((await post(PERSON)).json().data).toEqual({ accepted: 1 })
    await post(PERSON)
    await work()
    const [first] = await rows()
    expect(first).toEqual({
      full_name: 'Ann Lee',
      title: 'CEO',
      company: 'Acme',
      domain: 'acme.com',
      email: 'ann@acme.com',
      linkedin_url: 'https://www.linkedin.com/in/ann/',
      industry: 'Software',
      location: 'Austin, Texas',
      pages: ['https://shop.example.com/pricing'],
      last_page: 'https://shop.example.com/pricing',
      referrer: 'https://search.example/',
      page_views: 1,
      visits: 1,
      first_seen: expect.any(String),
      last_seen: expect.any(String),
    })
    await post({
      ...PERSON,
      Title: null,
      'Captured URL': 'https://shop.example.com/jobs',
      'Seen At': '2026-01-02T00:00:00Z',
    })
    await work()
    expect(await rows()).toMatchObject([
      { title: 'CEO', page_views: 2, visits: 2, last_page: 'https://shop.example.com/jobs' },
    ])
    expect(await visitors.show(org, id)).toMatchObject({ lead_count: 1, provider: 'rb2b', credits_spent: 0 })
  })

  it.each([
    ['a company without a person', { ...PERSON, 'LinkedIn URL': null, 'Business Email': null }],
    ['a page of another site', { ...PERSON, 'Captured URL': 'https://evil.example/' }],
  ])('%s is not accepted', async (_what, sent) => {
    const { id, post } = await make()
    const answer = await post(sent)
    expect([answer.statusCode, answer.json().data]).toEqual([200, { accepted: 0 }])
    expect(await received(id)).toMatchObject({ total: 0 })
  })

  it('400 for what is no delivery of RB2B, 404 for a foreign token, nothing while it is paused', async () => {
    const { id, post, pixel_id } = await make()
    expect((await post({ hello: 'world' })).statusCode).toBe(400)
    expect((await post(PERSON, `/visitors/${'b'.repeat(40)}`)).statusCode).toBe(404)
    // The pixel id is in every page, so it must not allow anyone to add people.
    expect((await post(PERSON, `/visitors/${pixel_id}`)).statusCode).toBe(404)
    await org.call('PATCH', `/sources/${id}/status`, { status: 'paused' })
    expect((await post(PERSON)).json().data).toEqual({ accepted: 0 })
  })
})

it('R16: what arrives for a source that is locked keeps nothing else waiting', async () => {
  const other = await app.makeOrg()
  const make = async (owner: TestOrg) => {
    const { body } = await owner.call('POST', `/sources/${SLUG}`, {
      active_domain: 'acme.com',
      name: 'Locked',
    })
    return { org_id: owner.orgId, instance_id: String(body.data.source_instance_id) }
  }
  const [theirs, own] = [await make(org), await make(other)]
  const put = createInbox(app.store, app.services.sealer)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>()
  const holding = app.store.system.transaction().execute(async (trx) => {
    await sql`select from sources where instance_id = ${theirs.instance_id} for update`.execute(trx)
    onLocked()
    await released
  })
  onTestFinished(() => release())
  await locked
  const waiting = [put(theirs, { n: 1 }), put(theirs, { n: 2 }), put(theirs, { n: 3 })]
  await put(own, { n: 4 })
  release()
  await Promise.all([holding, ...waiting])
  expect(await received(theirs.instance_id)).toMatchObject({ total: 3 })
})
