import { expect, it } from 'vitest'
import { recordsOf } from '#test/builders/organisation-records.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()

type Ids = { workflow_id: string; sheet_id: string; row_id: string; action_instance_id: string }

const ACTION = '/workflows/{workflow_id}/sheets/{sheet_id}/actions/{action_instance_id}'

/** Valid bodies. An endpoint that is not listed gets `{}`: access is checked before bodies (D7). */
const BODIES: Record<string, (ids: Ids) => unknown> = {
  'PATCH /workflows/{workflow_id}/name': () => ({ name: 'Taken over' }),
  'POST /workflows/{workflow_id}/duplicate': () => ({ name: 'Taken over' }),
  'POST /workflows/{workflow_id}/sheets': () => ({ name: 'Taken over' }),
  'PATCH /workflows/{workflow_id}/sheets/{sheet_id}': () => ({ auto_run: true }),
  'PATCH /workflows/{workflow_id}/sheets/{sheet_id}/name': () => ({ name: 'Taken over' }),
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/inputs': () => [{ name: 'Taken over', type: 'string' }],
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/actions/add': () => ({ action_id: 'filter' }),
  [`PATCH ${ACTION}`]: () => ({ inputs: { full_name: 'Taken over' } }),
  [`PATCH ${ACTION}/name`]: () => ({ name: 'Taken over' }),
  [`PATCH ${ACTION}/move`]: () => ({ after: 'input' }),
  [`PATCH ${ACTION}/waterfall/{field_name}`]: () => ({ providers: ['Hunter', 'Prospeo'] }),
  [`POST ${ACTION}/notes`]: () => ({ note: 'Taken over' }),
  [`POST ${ACTION}/options/{field_name}`]: () => ({}),
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows': () => ({ rows: [{ Email: 'c@d.example' }] }),
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows/list': () => ({}),
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows/delete': ({ row_id }) => ({ row_ids: [row_id] }),
  'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows/delete-all': () => ({}),
}

type Endpoint = { name: string; method: string; path: string }

/** The endpoints of the OpenAPI document: a new endpoint is tested without being listed here. */
const endpoints: Endpoint[] = Object.entries(app.api.swagger().paths ?? {})
  .filter(([path]) => path.startsWith('/api/v1/workflows/{'))
  .flatMap(([path, operations]) =>
    Object.keys(operations ?? {}).map((verb) => {
      const method = verb.toUpperCase()
      return { name: `${method} ${path.slice('/api/v1'.length)}`, method, path }
    }),
  )

async function makeWorkflow(key: string): Promise<Ids> {
  const call = (method: string, path: string, body: unknown) => app.call(key, method, path, body)
  const { workflow_id } = (await call('POST', '/workflows/', { name: 'Private' })).body.data
  const path = `/workflows/${workflow_id}/sheets`
  const { sheet_id } = (await call('POST', path, { name: 'Private too' })).body.data
  await call('POST', `${path}/${sheet_id}/inputs`, [{ name: 'Email', type: 'email' }])
  const rows = await call('POST', `${path}/${sheet_id}/rows`, { rows: [{ Email: 'a@b.example' }] })
  const action = await call('POST', `${path}/${sheet_id}/actions/add`, {
    action_id: 'person_work_email_waterfall',
    name: 'Private as well',
    inputs: { full_name: 'Private', email_providers: ['Hunter', 'Prospeo'] },
  })
  const { action_instance_id } = action.body.data
  return { workflow_id, sheet_id, row_id: rows.body.data.row_ids[0], action_instance_id }
}

async function attempt(key: string, { name, method, path }: Endpoint, ids: Ids) {
  const values: Record<string, string> = {
    field_name: path.includes('/actions/') ? 'email_providers' : 'Email',
    ...ids,
  }
  const url = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => values[param] ?? ids.row_id)
  const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[name]?.(ids) ?? {})
  return app.call(key, method, url, body)
}

const owner = await app.makeOrg()
const theirs = await makeWorkflow(owner.key)
const stranger = await app.makeOrg()
const strangers = await makeWorkflow(stranger.key)
const member = await owner.keyFor('member@example.com', 'member')
const members = await makeWorkflow(member)
const narrowed = await owner.keyFor(owner.adminEmail, 'admin', { allowedWorkflowIds: [members.workflow_id] })

const ON_WORKFLOWS: [string, string, Ids, number][] = [
  ["another organisation's workflow", stranger.key, theirs, 404],
  ['a workflow of the organisation, without access', member, theirs, 403],
  ['a workflow that the key is not narrowed to', narrowed, theirs, 403],
  [
    "another organisation's child sheet as the workflow",
    stranger.key,
    { ...theirs, workflow_id: theirs.sheet_id },
    404,
  ],
]
const ON_SHEETS: [string, string, Ids, number][] = [
  [
    "another organisation's sheet in one's own workflow",
    stranger.key,
    { ...theirs, workflow_id: strangers.workflow_id },
    404,
  ],
  [
    "one's own sheet in another organisation's workflow",
    stranger.key,
    { ...strangers, workflow_id: theirs.workflow_id },
    404,
  ],
  [
    "a sheet without access in one's own workflow",
    member,
    { ...theirs, workflow_id: members.workflow_id },
    404,
  ],
  [
    "one's own sheet in a workflow without access",
    member,
    { ...members, workflow_id: theirs.workflow_id },
    403,
  ],
]

it('there are endpoints to try, and each with a known body is among them', () => {
  expect(endpoints.map((endpoint) => endpoint.name)).toEqual(expect.arrayContaining(Object.keys(BODIES)))
})

it.each(endpoints)('$name is refused and changes nothing', async (endpoint) => {
  const cases = endpoint.path.includes('{sheet_id}') ? [...ON_WORKFLOWS, ...ON_SHEETS] : ON_WORKFLOWS
  const records = async () => [
    await recordsOf(app.store, owner.orgId),
    await recordsOf(app.store, stranger.orgId),
  ]
  const before = await records()
  for (const [what, key, ids, status] of cases) {
    const answer = await attempt(key, endpoint, ids)
    expect([what, answer.status, answer.body]).toEqual([
      what,
      status,
      {
        status,
        error: status === 404 ? 'Not Found' : 'Forbidden',
        message: expect.not.stringContaining('Private'),
      },
    ])
  }
  expect(await records()).toEqual(before)
})

/**
 * Endpoints whose request is complete without ids that `makeWorkflow` does not create. A stream never ends
 * and is left out.
 */
const complete = endpoints.filter(
  ({ name, method, path }) =>
    !path.endsWith('/changes') &&
    (method === 'GET' || method === 'DELETE' || name in BODIES) &&
    /^[^{]*(\{(workflow_id|sheet_id|row_id|field_name)\}[^{]*)+$/.test(path),
)

it.each(complete)('$name is not refused to the owner', async (endpoint) => {
  const { status } = await attempt(owner.key, endpoint, await makeWorkflow(owner.key))
  expect([200, 201]).toContain(status)
})

it('GET /workflows/ lists nothing of others', async () => {
  const listed = async (key: string) =>
    (await app.call(key, 'GET', '/workflows/')).body.data.map((entry: Json) => entry.workflow_id)
  expect(await listed(stranger.key)).toEqual([strangers.workflow_id])
  expect(await listed(member)).toEqual([members.workflow_id])
  expect(await listed(narrowed)).toEqual([members.workflow_id])
})
