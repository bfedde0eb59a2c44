import { beforeEach, describe, expect, it } from 'vitest'
import { canonicalScope } from '#contract/scopes.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { signIn } from '../testing/session.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Hostile' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'a', type: 'string' }])
const added = await org.call('POST', `${sheet}/rows`, { rows: [{ a: 'x' }] })
const action = await org.call('POST', `${sheet}/actions/add`, {
  action_id: 'person_work_email_waterfall',
  inputs: { full_name: '{{input.a}}' },
})
const IDS: Record<string, string> = {
  workflow_id: id,
  sheet_id: id,
  row_id: added.body.data.row_ids[0],
  action_instance_id: action.body.data.action_instance_id,
  source_id: 'find_people',
  field_name: 'email_providers',
}

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  '%00',
  'a%00b',
  '%ED%A0%80',
  // Two dots would be another path: after the sheet's path they would name the workflow and delete it.
  '...',
  '%2F',
  '%F0%9F%8C%B1',
]
const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'a\0b', '\ud800', '']
const valuesWith = (key: string) => ['text', 1, null, {}, [], { name: key }, [key]]

type Endpoint = { name: string; method: string; path: string; params: string[] }
const endpoints = Object.entries(app.api.swagger().paths ?? {}).flatMap(([path, operations]): Endpoint[] =>
  Object.keys(operations ?? {}).map((verb) => ({
    name: `${verb.toUpperCase()} ${path}`,
    method: verb.toUpperCase(),
    path,
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param ?? ''),
  })),
)
// Streams never end by themselves, so they are left out.
const answering = endpoints.filter(({ path }) => !path.endsWith('/changes'))
const urlOf = ({ path }: Endpoint, changed: Record<string, string> = {}) =>
  path.replaceAll(/\{(\w+)\}/g, (_, param: string) => changed[param] ?? IDS[param] ?? id)

/** Returns the JSON of an object with this one key, which may be any text. */
const keyed = (key: string, value: unknown) => JSON.stringify(Object.fromEntries([[key, value]]))

// Delete All and similar endpoints deleted the former row; a request that ends in 404 would test nothing.
beforeEach(async () => {
  const { body } = await org.call('POST', `${sheet}/rows`, { rows: [{ a: 'x' }], run_after_add: 'none' })
  IDS['row_id'] = body.data.row_ids[0]
})

describe('no name chosen by a caller leads to a 5xx', () => {
  it.each(NAMES)('F70: a cell named %s is not found', async (name) => {
    const cell = `${sheet}/rows/${IDS['row_id']}/cells/${name}`
    const answers = [await org.call('GET', cell), await org.call('GET', `${cell}/outputs`)]
    for (const { status } of answers) expect([400, 404]).toContain(status)
  })

  it('F70: no inherited property name of objects is a scope', () => {
    expect(NAMES.map(canonicalScope)).toEqual(NAMES.map(() => undefined))
  })

  it.each(answering.filter(({ params }) => params.length > 0))('in the path of $name', async (endpoint) => {
    const body = endpoint.method === 'GET' || endpoint.method === 'DELETE' ? undefined : {}
    const wrong: string[] = []
    const urls = endpoint.params.flatMap((param) => NAMES.map((name) => urlOf(endpoint, { [param]: name })))
    await Promise.all(
      urls.map(async (url) => {
        const { status } = await org.call(endpoint.method, url, body)
        if (status >= 500) wrong.push(`${url}: ${status}`)
      }),
    )
    expect(wrong).toEqual([])
  })

  it.each(answering.filter(({ method }) => ['POST', 'PATCH', 'PUT'].includes(method)))(
    'in the body of $name',
    async (endpoint) => {
      const wrong: string[] = []
      const send = async (text: string) => {
        const { status, body } = await org.call(endpoint.method, urlOf(endpoint), text)
        // There is no model in this test, which the agent reports with its own errors (part 7).
        if (status >= 500 && !String(body.error).startsWith('AGENT_'))
          wrong.push(`${text}: ${status} ${body.error}`)
      }
      const places = [...fieldsOf(endpoint).map((field) => JSON.stringify(field)), null]
      for (const [at, place] of places.entries()) {
        // Each place gets every key and every value, and each pair of them appears in some place.
        const bodies = KEYS.flatMap((key, n) => {
          const text = keyed(key, valuesWith(key)[(at + n) % valuesWith(key).length])
          if (place === null) return [text]
          const inPlace = [text, `[${text}]`, JSON.stringify(key), JSON.stringify([key])]
          return inPlace.map((value) => `{${place}: ${value}}`)
        })
        await Promise.all(bodies.map(send))
      }
      expect(wrong).toEqual([])
    },
  )

  it.each(['email=%00', 'email=a%00@example.com', '__proto__=1', 'email=%ED%A0%80', 'email[]=1'])(
    'in a query: %s',
    async (query) => {
      expect((await org.call('DELETE', `/org/members?${query}`)).status).toBeLessThan(500)
    },
  )
})

/** Valid bodies, for endpoints of sessions and keys where the schemas alone would let any text pass. */
const S = `/workflows/${id}/sheets/${id}`
const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: ['A'] }] }]
const selection = {
  filters: [{ variable: '{{input.a}}', operator: 'is equal to', values: ['x'] }],
  status_filters: [{ action_instance_id: IDS['action_instance_id'], is_not: ['complete'] }],
  find: 'x',
}
const budget = {
  scope: 'workflow',
  subject: id,
  period: 'run',
  limit: 1,
  name: 'Budget',
  emails: ['a@example.com'],
}
const key = {
  preset: 'custom',
  scopes: ['workflows:read'],
  allowed_workflow_ids: [id],
  email: org.adminEmail,
}
const segment = await createSegment(app.store.org(org.orgId), org.orgId, OPERATOR, {
  name: 'Synced',
  kind: 'company',
  filter,
})
const source = await org.call('POST', '/sources/import_from_api', { url: 'https://example.com/list' })
const mapped = { workflow_id: id, field_mapping: { 'input.a': 'name' } }
const RIGHT: [string, string, unknown][] = [
  ['POST', `/api/v1/records/segments/${segment.segment_id}/sync`, mapped],
  ['POST', `/api/v1/sources/${source.body.data.source_instance_id}/sync`, mapped],
  ['POST', '/api/v1/credits/budgets', { ...budget, webhook_url: 'https://example.com/x' }],
  ['POST', `/api/v1${S}/estimate`, selection],
  [
    'POST',
    `/api/v1${S}/estimate`,
    () => ({ row_ids: [IDS['row_id']], action_instance_id: IDS['action_instance_id'] }),
  ],
  [
    'POST',
    '/api/v1/agent/run',
    { prompt: 'Who?', output_schema: { properties: { who: { type: 'string' } } } },
  ],
  ['POST', '/segments', { name: 'Segment', kind: 'company', filter }],
  ['POST', '/segments/preview', { kind: 'company', filter }],
  ['POST', `/workflows/${id}/share`, { email: 'a@example.com' }],
  ['PUT', `${S}/schedule`, { cron: '0 9 * * *', timezone: 'Europe/Berlin' }],
  ['POST', '/members', { email: 'n@example.com', role: 'member' }],
  ['POST', '/keys', key],
  ['POST', '/connections', { provider: 'hunter', name: 'Mine', fields: { secret: 'x' }, shared: true }],
  ['PUT', '/environment', { key: 'A_KEY', value: 'a value', workflow_id: id }],
  ['POST', '/shortcuts', { workflow_id: id, name: 'Shortcut', description: 'Says' }],
  ['PATCH', `${S}/rows`, { rows: [{ row_id: IDS['row_id'], inputs: { a: 'y' } }] }],
  ['POST', `${S}/rows/window`, { offset: 0, limit: 5, ...selection }],
  ['PUT', `${S}/layout`, { order: ['input.a'], hidden: ['b'], frozen: [], widths: { a: 100 } }],
]

describe('no text leads to a 5xx, in any place of a body that is otherwise valid', async () => {
  const session = await signIn(app, org.orgId, org.adminEmail)
  it.each(RIGHT)('%s %s', async (method, path, given) => {
    const body: unknown = typeof given === 'function' ? given() : given
    // The body must be valid first: otherwise the test would prove nothing.
    const right = await session.call(method, path, body)
    expect([right.status, right.body.errors]).not.toEqual([400, expect.anything()])
    const answers = await Promise.all(
      spoil(body).map(async (spoilt) => {
        const { status, body: answer } = await session.call(method, path, spoilt)
        return status >= 500 && !String(answer.error).startsWith('AGENT_') ? JSON.stringify(spoilt) : null
      }),
    )
    expect(answers.filter((answer) => answer !== null)).toEqual([])
  })

  const internal = app.api.declaredRoutes.filter(
    ({ method, url }) =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) &&
      url.startsWith('/internal/') &&
      url.includes('/:'),
  )
  it('no name in a path of the dashboard leads to a 5xx', async () => {
    const wrong: string[] = []
    for (const { method, url } of internal) {
      const params = [...url.matchAll(/:(\w+)/g)].map(([, param]) => param ?? '')
      const urls = params.flatMap((param) =>
        NAMES.map((name) =>
          url
            .slice('/internal'.length)
            .replaceAll(/:(\w+)/g, (_, at: string) => (at === param ? name : (IDS[at] ?? id))),
        ),
      )
      await Promise.all(
        urls.map(async (path) => {
          const { status } = await session.call(
            method,
            path,
            method === 'GET' || method === 'DELETE' ? undefined : {},
          )
          if (status >= 500) wrong.push(`${method} ${path}: ${status}`)
        }),
      )
    }
    expect(wrong).toEqual([])
    expect(internal.length).toBeGreaterThan(20)
  })
})

/** Returns copies of the body with one text replaced in each, keys included. */
function spoil(body: unknown): unknown[] {
  const TEXTS = ['a\0b', '\ud800', '__proto__', 'constructor', '\\', '%']
  if (typeof body === 'string') return TEXTS
  if (Array.isArray(body)) return body.flatMap((item, n) => spoil(item).map((other) => body.with(n, other)))
  if (typeof body !== 'object' || body === null) return TEXTS.slice(0, 1)
  const entries = Object.entries(body)
  const values = entries.flatMap(([key, value], n) =>
    spoil(value).map((other) => Object.fromEntries(entries.with(n, [key, other]))),
  )
  return [...values, ...TEXTS.map((text) => Object.fromEntries([...entries, [text, text]]))]
}

function fieldsOf({ path, method }: Endpoint): string[] {
  const operation: Json = Object.entries(app.api.swagger().paths?.[path] ?? {}).find(
    ([verb]) => verb.toUpperCase() === method,
  )?.[1]
  const schema = operation?.requestBody?.content?.['application/json']?.schema ?? {}
  return Object.keys(schema.properties ?? {})
}
