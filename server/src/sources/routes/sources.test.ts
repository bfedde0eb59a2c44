import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { connectPaged, itemsOf, makeSourceApp } from '#server/sources/pulls/testing/source-app.ts'
import type { ApiResponse, TestOrg } from '#test/plumbing/harness.ts'

const sources = await makeSourceApp()
const { app, lists, asked } = sources
const platform = await makeSourceApp({ LOAM_PROVIDER_KEY_PAGED: 'platform key' })
let org: TestOrg
let connection: string
beforeAll(async () => {
  org = await app.makeOrg()
  connection = await connectPaged(app, org)
  await connectPaged(app, org, 'Second')
  lists.set('people', { items: itemsOf(5) })
  lists.set('many', { items: itemsOf(150), pageSize: 40 })
  lists.set('none', { items: [] })
  lists.set('lists', { items: [], answer: () => ({ json: { lists: ['people', 'many'] } }) })
})

const errorsOf = ({ body }: ApiResponse) =>
  (body.errors ?? [])
    .map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)
    .join('\n')

describe('POST /sources/{source_id}/preview', () => {
  it('answers the first rows and how many there are', async () => {
    const { status, body } = await org.call('POST', '/sources/paged_once/preview', {
      list: 'people',
      limit: 3,
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      data: [1, 2, 3].map((n) => ({ name: `item ${n}`, email: null, at: null })),
      metadata: { total_results: 5 },
    })
  })

  it('answers at most 100 rows, whatever the limit', async () => {
    for (const limit of [undefined, 500]) {
      const { body } = await org.call('POST', '/sources/paged_once/preview', { list: 'many', limit })
      expect(body.data).toHaveLength(100)
      expect(body.metadata).toEqual({ total_results: 150, capped: true })
    }
  })

  it('says that there are more where the provider does not say how many', async () => {
    lists.set('untold', {
      items: [],
      answer: ({ token }) => ({ json: { items: itemsOf(60, token + 1), next: String(token + 60) } }),
    })
    const { body } = await org.call('POST', '/sources/paged_once/preview', { list: 'untold' })
    expect(body.metadata).toEqual({ total_results: 100, capped: true })
  })

  it('answers no rows where there are none', async () => {
    const { body } = await org.call('POST', '/sources/paged_once/preview', { list: 'none' })
    expect(body).toEqual({ status: 200, data: [], metadata: { total_results: 0 } })
  })

  it('never persists and never consumes credits', async () => {
    platform.lists.set('people', { items: itemsOf(5) })
    const payer = await platform.app.makeOrg()
    const read = async () => {
      const tables = await platform.app.store.query<{ name: string }>({
        text: `select table_name as name from information_schema.tables
          where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'rate_windows' order by 1`,
      })
      const counted = tables.map(async ({ name }) => [
        name,
        await platform.app.store.query({
          text: `select to_jsonb(t) - 'last_used_at' as row from ${name} t order by t::text`,
        }),
      ])
      return Promise.all(counted)
    }
    // The first request with a key records its last use.
    await payer.call('GET', '/sources')
    const before = await read()
    const { status } = await payer.call('POST', '/sources/paged_once/preview', {
      list: 'people',
      name: 'Never',
    })
    expect(status).toBe(200)
    expect(platform.asked.at(-1)?.key).toBe('platform key')
    expect(await read()).toEqual(before)
  })

  it.each([
    [
      { status: 401, json: { message: 'bad key' } },
      400,
      'connection_id: Paged: the key was refused (HTTP 401)',
    ],
    [{ status: 400, json: { message: 'no such list' } }, 400, 'no such list'],
    [{ status: 500, text: 'broken' }, 400, 'Paged: HTTP 500: broken'],
    [{ text: 'not json' }, 400, 'Paged: '],
    [{ json: { items: 5 } }, 400, 'the answer is not of the expected shape at items'],
  ])('a provider that answers %j is a 400 with its reason (D57)', async (reply, status, words) => {
    lists.set('faulty', { items: [], answer: () => reply })
    const answer = await org.call('POST', '/sources/paged_once/preview', { list: 'faulty' })
    expect(answer.status).toBe(status)
    expect(errorsOf(answer)).toContain(words)
  })

  it.each([
    [{ status: 429, headers: { 'retry-after': '42' } }, 42],
    [{ status: 402, text: 'quota used up' }, 10],
  ])("a provider's own quota (%j) is 429 (D57)", async (reply, seconds) => {
    lists.set('quota', { items: [], answer: () => reply })
    const answer = await org.call('POST', '/sources/paged_once/preview', { list: 'quota' })
    expect(answer.status).toBe(429)
    expect(answer.body).toMatchObject({ retryAfter: seconds, message: expect.stringContaining('Paged') })
  })

  it('shows what it read before a later page was refused', async () => {
    lists.set('halfway', { items: itemsOf(6), answer: ({ token }) => (token > 0 ? { status: 500 } : null) })
    const { status, body } = await org.call('POST', '/sources/paged_once/preview', { list: 'halfway' })
    expect(status).toBe(200)
    expect(body.data).toHaveLength(2)
    expect(body.metadata).toEqual({ total_results: 6, capped: true })
  })
})

const BAD_BODIES: [string, unknown, string][] = [
  ['paged_once', undefined, 'list: required'],
  ['paged_once', {}, 'list: required'],
  ['paged_once', { list: '  ' }, 'list: must be non-empty'],
  ['paged_once', { list: 5 }, 'list: must be a string'],
  [
    'paged_once',
    { list: 'people', colour: 'red' },
    'colour: not accepted; paged_once takes: list, since, tags',
  ],
  ['paged_once', { list: 'people', tags: ['a', 5] }, 'tags[1]: must be a string'],
  ['paged_once', { list: 'people', tags: ['a', 'b', 'c', 'd'] }, 'tags: must be at most 3 items'],
  ['paged_once', { list: 'people', max_count: 0 }, 'max_count: must be at least 1'],
  ['paged_once', { list: 'people', max_records: 1.5 }, 'max_records: must be a whole number'],
  ['paged_once', { list: 'people', max_credits: -1 }, 'max_credits: must be at least 0'],
  ['paged_once', { list: 'people', max_credit: 5 }, 'max_credit: not accepted'],
  ['paged_once', { list: 'people', max_count: 3, max_items: 4 }, 'max_items: is the same as max_count'],
  ['paged_once', { list: 'people', name: ' ' }, 'name: must not be empty'],
  ['paged_once', { list: 'people', schedule: 'daily' }, 'schedule: not accepted'],
  ['paged_either', { list: 'people', schedule: 'sometimes' }, 'schedule: must be hourly, daily, weekly'],
  ['paged_either', { list: 'people', schedule: '* * *' }, 'schedule: must be hourly, daily, weekly'],
  ['paged_either', { list: 'people', stop_at: '2030-01-01T00:00:00Z' }, 'stop_at: needs a schedule'],
  ['paged_tracked', { list: 'people', stop_at: 'tomorrow' }, 'stop_at: must be an ISO 8601 date-time'],
  ['paged_tracked', { list: 'people', stop_at: '2001-01-01T00:00:00Z' }, 'stop_at: must be in the future'],
  [
    'paged_tracked',
    { list: 'people', pull_existing: true, import_existing_data: false },
    'import_existing_data: is the same',
  ],
  ['paged_once', { list: 'people', connection_id: randomUUID() }, 'connection_id: there is no connection'],
  ['several_once', { list: 'people', provider: 'nobody' }, 'provider: must be one of: paged, open'],
]

describe.each(['', '/preview'])('POST /sources/{source_id}%s', (end) => {
  it.each(BAD_BODIES)('%s refuses %j', async (slug, body, words) => {
    const answer = await org.call('POST', `/sources/${slug}${end}`, body)
    expect(answer.status).toBe(400)
    expect(errorsOf(answer)).toContain(words)
  })

  it.each([['[]'], ['"text"'], ['5'], ['null']])(
    'refuses the body %s: any JSON object is accepted',
    async (body) => {
      expect((await org.call('POST', `/sources/paged_once${end}`, body)).status).toBe(400)
    },
  )

  it('reports every field failure at once', async () => {
    const answer = await org.call('POST', `/sources/paged_once${end}`, {
      tags: 'a',
      max_count: 'b',
      colour: 'c',
    })
    expect(answer.body.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
      'colour',
      'list',
      'max_count',
      'tags',
    ])
  })

  it('an unknown type is 404, and the answer names those there are', async () => {
    const answer = await org.call('POST', `/sources/find_nothing${end}`, {})
    expect(answer.status).toBe(404)
    expect(answer.body.message).toContain('there are: open_once, paged_either, paged_once')
  })

  it('a provider that is not connected is one clear 400 that says how to connect it', async () => {
    const other = await app.makeOrg()
    const answer = await other.call('POST', `/sources/paged_once${end}`, { list: 'people' })
    expect(answer.status).toBe(400)
    expect(errorsOf(answer)).toBe(
      'connection_id: paged_once needs Paged, which is not connected; run `loam connection add --provider paged` or set LOAM_PROVIDER_KEY_PAGED',
    )
  })
})

describe('who is asked', () => {
  const ask = async (slug: string, body: object, from = org) => {
    asked.length = 0
    const { status } = await from.call('POST', `/sources/${slug}/preview`, { list: 'people', ...body })
    expect(status).toBe(200)
    return asked[0]?.key
  }

  it('is the oldest connection, or the one named by id or name', async () => {
    expect(await ask('paged_once', {})).toBe('key of Main')
    expect(await ask('paged_once', { connection_id: connection })).toBe('key of Main')
    expect(await ask('paged_once', { connection_id: 'second' })).toBe('key of Second')
  })

  it('is the first provider that is connected, or the one named', async () => {
    const other = await app.makeOrg()
    expect(await ask('several_once', {}, other)).toBeUndefined()
    expect(await ask('several_once', {})).toBe('key of Main')
    expect(await ask('several_once', { provider: 'open' })).toBeUndefined()
  })

  it("is never another member's private connection", async () => {
    const other = await app.makeOrg()
    const key = await other.keyFor('ann@example.com', 'member')
    const found = await app.store.query<{ member_id: string }>({
      text: `select member_id from members where org_id = $1 and email = 'ann@example.com'`,
      values: [other.orgId],
    })
    await connectPaged(app, other, 'Private', { ownerId: found[0]?.member_id ?? '', shared: false })
    const call = (caller: string) =>
      app.call(caller, 'POST', '/sources/paged_once/preview', { list: 'people' })
    expect((await call(key)).status).toBe(200)
    expect((await call(other.key)).status).toBe(400)
  })
})

describe('POST /sources/{source_id}/options/{field_name}', () => {
  const options = (field: string, body?: unknown, slug = 'paged_once') =>
    org.call('POST', `/sources/${slug}/options/${field}`, body)

  it('resolves options with the parent selection in context', async () => {
    const { status, body } = await options('list', { context: { object_type: 'contacts' } })
    expect(status).toBe(200)
    expect(body.data.options).toEqual([
      { value: 'people', label: 'PEOPLE' },
      { value: 'many', label: 'MANY' },
    ])
    expect((await options('list', { context: { objectType: 'contacts' } })).status).toBe(200)
  })

  it.each([[undefined], [{}], [{ context: {} }], [{ context: { object_type: '' } }]])(
    'omitting a required key (%j) is 400 listing accepted key spellings',
    async (body) => {
      const answer = await options('list', body)
      expect(answer.status).toBe(400)
      expect(errorsOf(answer)).toBe(
        'context.object_type: required; accepted spellings: object_type, objectType',
      )
    },
  )

  it('refuses what cannot be a parent', async () => {
    const answer = await options('list', { context: { object_type: '../secrets' } })
    expect(answer.status).toBe(400)
    expect(errorsOf(answer)).toContain('context.object_type: "../secrets" is not a value that Paged knows')
  })

  it('resolvers without cascades accept an empty body', async () => {
    expect((await options('tags')).body.data.options).toEqual([{ value: 'a', label: 'A' }])
  })

  it.each([['colour'], ['constructor'], ['name']])('a field without options (%s) is 404', async (field) => {
    const answer = await options(field)
    expect(answer.status).toBe(404)
    expect(answer.body.message).toContain('fields with options: list, tags')
  })
})

describe('access', () => {
  const INSTANCE = randomUUID()
  const ENDPOINTS: [string, string, unknown, 'read' | 'write'][] = [
    ['POST', '/sources/paged_once/preview', { list: 'people' }, 'read'],
    ['POST', '/sources/paged_once', { list: 'people' }, 'write'],
    ['POST', '/sources/paged_once/options/tags', {}, 'read'],
    ['GET', '/sources/', undefined, 'read'],
    ['GET', `/sources/${INSTANCE}`, undefined, 'read'],
    ['GET', `/sources/${INSTANCE}/data`, undefined, 'read'],
    ['POST', `/sources/${INSTANCE}/sync`, {}, 'write'],
    ['PATCH', `/sources/${INSTANCE}/status`, { status: 'paused' }, 'write'],
    ['PATCH', `/sources/${INSTANCE}`, { max_credits: 5 }, 'write'],
  ]

  it.each(ENDPOINTS)('%s %s needs its scope and no other', async (method, path, body, scope) => {
    const other = scope === 'read' ? 'sources:write' : 'sources:read'
    const without = await org.keyFor('ann@example.com', 'member', { scopes: [other] })
    const with_ = await org.keyFor('ann@example.com', 'member', { scopes: [`sources:${scope}`] })
    expect((await app.call(null, method, path, body)).status).toBe(401)
    expect((await app.call(without, method, path, body)).body.error).toBe('INSUFFICIENT_SCOPE')
    expect((await app.call(with_, method, path, body)).body.error).not.toBe('INSUFFICIENT_SCOPE')
  })

  it('the role user may use sources (D11)', async () => {
    const key = await org.keyFor('una@example.com', 'user')
    expect((await app.call(key, 'GET', '/sources')).status).toBe(200)
  })

  it.each(ENDPOINTS.filter(([, path]) => path.includes(INSTANCE)))(
    "%s %s: 400 for a bad id, 404 for an unknown one and another organisation's",
    async (method, path, body) => {
      const mine = await sources.create(org, 'paged_once', { list: 'people' })
      const other = await app.makeOrg()
      const at = (id: string) => path.replace(INSTANCE, id)
      expect((await org.call(method, at('not-an-id'), body)).status).toBe(400)
      expect((await org.call(method, at('paged_once'), body)).status).toBe(400)
      expect((await org.call(method, path, body)).status).toBe(404)
      expect((await other.call(method, at(mine), body)).status).toBe(404)
    },
  )
})

describe('POST /sources/{source_id} and GET /sources/', () => {
  it('creates a source, whose import runs asynchronously, and lists it first', async () => {
    const other = await app.makeOrg()
    await connectPaged(app, other)
    const first = await other.call('POST', '/sources/paged_once', { list: 'people', name: ' First ' })
    expect(first.status).toBe(201)
    expect(first.body.data).toEqual({
      source_instance_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'First',
      created_at: expect.stringMatching(/Z$/),
    })
    const second = await sources.create(other, 'paged_tracked', {
      list: 'people',
      stop_at: '2040-01-01T00:00:00Z',
    })
    const { body } = await other.call('GET', '/sources/')
    expect(body.data).toEqual([
      {
        source_instance_id: second,
        name: 'Test paged_tracked',
        source_id: 'paged_tracked',
        status: 'active',
        lead_count: 0,
        created_at: expect.any(String),
        expiration_date: '2040-01-01T00:00:00.000Z',
      },
      {
        source_instance_id: first.body.data.source_instance_id,
        name: 'First',
        source_id: 'paged_once',
        status: 'active',
        lead_count: 0,
        created_at: first.body.data.created_at,
        expiration_date: null,
      },
    ])
    const jobs = await app.store.query<{ count: number }>({
      text: `select count(*) from graphile_long.jobs where key = any($1)`,
      values: [[`pull_source:${second}`, `pull_source:${first.body.data.source_instance_id}`]],
    })
    expect(jobs[0]?.count).toBe(2)
  })

  it('takes what PostgreSQL cannot hold, and refuses a schedule that never comes', async () => {
    const odd = { list: 'a\0b', name: 'c\0d', tags: ['\uD800'] }
    expect((await org.call('POST', '/sources/paged_once', odd)).body.data.name).toBe('c\uFFFDd')
    const never = await org.call('POST', '/sources/paged_tracked', { list: 'people', schedule: '0 0 30 2 *' })
    expect(never.status).toBe(400)
    expect(errorsOf(never)).toContain('schedule: no date ever matches')
  })

  it('lists only supported types', async () => {
    const id = await sources.create(org, 'paged_once', { list: 'people' })
    await sources.set(id, `slug = 'gone'`)
    const { body } = await org.call('GET', '/sources')
    expect(JSON.stringify(body)).not.toContain(id)
  })
})
