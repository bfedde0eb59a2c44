import { describe, expect, it } from 'vitest'
import { type Json, makeApp, type TestOrg } from '#test/harness.ts'

const app = await makeApp()

/** Bodies that would be accepted. An endpoint that is not named here is sent `{}`: access is checked before bodies (D7). */
const BODIES: Record<string, unknown> = {
  'PATCH /workflows/{workflow_id}/name': { name: 'taken over' },
  'POST /workflows/{workflow_id}/duplicate': { name: 'taken over' },
  'POST /workflows/{workflow_id}/sheets': { name: 'taken over' },
  'PATCH /workflows/{workflow_id}/sheets/{sheet_id}': { auto_run: true },
  'PATCH /workflows/{workflow_id}/sheets/{sheet_id}/name': { name: 'taken over' },
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/inputs': [{ name: 'taken over', type: 'string' }],
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows': { rows: [{ Email: 'taken@over.example' }] },
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows/list': {},
}

type Endpoint = { name: string; method: string; path: string }

/** Every endpoint that names a workflow, from the API's own description: a new one is tried without being listed here. */
const endpoints: Endpoint[] = Object.entries(app.api.swagger().paths ?? {})
  .filter(([path]) => path.startsWith('/api/v1/workflows/{'))
  .flatMap(([path, operations]) =>
    Object.keys(operations ?? {}).map((verb) => {
      const method = verb.toUpperCase()
      return { name: `${method} ${path.replace('/api/v1', '')}`, method, path }
    }),
  )

type Ids = { workflow_id: string; sheet_id: string; row_id: string }

async function makeWorkflow(call: TestOrg['call']): Promise<Ids> {
  const workflow_id: string = (await call('POST', '/workflows/', { name: 'Private' })).body.data.workflow_id
  const path = `/workflows/${workflow_id}/sheets`
  const { sheet_id } = (await call('POST', path, { name: 'Child' })).body.data
  await call('POST', `${path}/${sheet_id}/inputs`, [{ name: 'Email', type: 'email' }])
  const rows = await call('POST', `${path}/${sheet_id}/rows`, { rows: [{ Email: 'a@b.example' }] })
  return { workflow_id, sheet_id, row_id: rows.body.data.row_ids[0] }
}

async function attempt(key: string, { name, method, path }: Endpoint, ids: Partial<Ids>): Promise<[number, string]> {
  const values: Record<string, string> = { field_name: 'Email', ...ids }
  const url = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => values[param] ?? ids.row_id ?? '')
  const body = BODIES[name] ?? (method === 'POST' || method === 'PATCH' || method === 'PUT' ? bodyFor(ids) : undefined)
  const answer = await app.call(key, method, url, body)
  expect(JSON.stringify(answer.body)).not.toContain('Private')
  return [answer.status, answer.body.error]
}

const bodyFor = ({ row_id }: Partial<Ids>): unknown => (row_id === undefined ? {} : { row_ids: [row_id] })

/** All that an organisation has. The time a key was last used changes even when it is refused. */
async function recordsOf(orgId: string): Promise<Json> {
  const records: Json = {}
  for (const { name } of await app.store.system.introspection.getTables()) {
    if (name === 'api_keys') continue
    const table = app.store.system.dynamic.table(name)
    records[name] = await app.store.org(orgId).selectFrom(table.as('t')).selectAll('t').execute()
  }
  return records
}

const owner = await app.makeOrg()
const ids = await makeWorkflow(owner.call)
const other = await app.makeOrg()
const otherIds = await makeWorkflow(other.call)
const member = await owner.keyFor('outsider@example.com', 'member')
const memberIds = await makeWorkflow((...args) => app.call(member, ...args))
const narrowed = await owner.keyFor(owner.adminEmail, 'admin', { allowedWorkflowIds: [memberIds.workflow_id] })

it('there are endpoints to try, and those with a body that is known are among them', () => {
  const names = endpoints.map((endpoint) => endpoint.name)
  expect(names).toEqual(expect.arrayContaining(Object.keys(BODIES)))
  expect(names.length).toBeGreaterThanOrEqual(15)
})

describe.each(endpoints)('$name', (endpoint) => {
  const hasSheet = endpoint.path.includes('{sheet_id}')
  it.each<[string, string, Partial<Ids>, [number, string]]>([
    ["another organisation's workflow is 404", other.key, ids, [404, 'Not Found']],
    ['a workflow of the organisation without access is 403', member, ids, [403, 'Forbidden']],
    ['a workflow that the key is not narrowed to is 403', narrowed, ids, [403, 'Forbidden']],
    ["another organisation's child sheet as the workflow is 404", other.key, { ...ids, workflow_id: ids.sheet_id }, [404, 'Not Found']],
    ...(hasSheet
      ? ([
          ["another organisation's sheet in one's own workflow is 404", other.key, { ...ids, workflow_id: otherIds.workflow_id }, [404, 'Not Found']],
          ["one's own sheet in another organisation's workflow is 404", other.key, { ...otherIds, workflow_id: ids.workflow_id }, [404, 'Not Found']],
          ["somebody else's sheet in one's own workflow is 404", member, { ...ids, workflow_id: memberIds.workflow_id }, [404, 'Not Found']],
        ] as [string, string, Ids, [number, string]][])
      : []),
  ])('%s, and nothing changes', async (_what, key, tried, expected) => {
    const before = [await recordsOf(owner.orgId), await recordsOf(other.orgId)]
    expect(await attempt(key, endpoint, tried)).toEqual(expected)
    expect([await recordsOf(owner.orgId), await recordsOf(other.orgId)]).toEqual(before)
  })

  it('the owner is not refused', async () => {
    const mine = await makeWorkflow(owner.call)
    const values = BODIES[endpoint.name] === undefined ? { ...mine } : mine
    const url = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => ({ field_name: 'Email', ...values })[param] ?? mine.row_id)
    const body = BODIES[endpoint.name] ?? (endpoint.method === 'GET' || endpoint.method === 'DELETE' ? undefined : bodyFor(mine))
    const { status } = await owner.call(endpoint.method, url, body)
    expect([401, 403]).not.toContain(status)
  })
})

it('GET /workflows/ lists nothing that is not accessible', async () => {
  const listed = async (key: string) =>
    (await app.call(key, 'GET', '/workflows/')).body.data.map((entry: Json) => entry.workflow_id)
  expect(await listed(other.key)).toEqual([otherIds.workflow_id])
  expect(await listed(member)).toEqual([memberIds.workflow_id])
  expect(await listed(narrowed)).toEqual([memberIds.workflow_id])
})
