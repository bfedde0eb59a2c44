import { expect, it } from 'vitest'
import { recordsOf } from '#test/builders/organisation-records.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Allowed' })).body.data
const narrowed = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [workflow_id] })

/**
 * The endpoints outside its workflows that a narrowed key may call. A new endpoint is refused unless it is
 * listed here.
 */
const OPEN = [
  /^GET \/user(\/knowledge)?$/,
  /^GET \/workflows$/,
  /^GET \/credits(\/ledger|\/prices|\/usage)?$/,
  /^GET \/actions(\/\{action_id\})?$/,
  /^POST \/files$/,
  /^POST \/definitions\/(plan|apply)$/,
  /^(GET|POST) \/(shortcuts|apps)\b/,
  /^POST \/agent\/run$/,
  /^GET \/agent\/runs\/\{request_id\}$/,
  /^GET \/sources$/,
  /^(GET|PATCH|POST) \/sources\/\{source_instance_id\}/,
  /^GET \/records\/observe\/segments$/,
  /^POST \/records\/observe\/segments\/\{segment_id\}\/changes$/,
  /^POST \/records\/segments\/\{segment_id\}\/sync$/,
  /^(GET|POST|DELETE) \/records\/syncs\b/,
]

/** Bodies that a key that is not narrowed could send. */
const BODIES: Record<string, unknown> = {
  'PUT /user/knowledge': { content: 'Taken over' },
  'POST /org/members': { email: 'attacker@example.com', role: 'admin' },
  'DELETE /org/members': undefined,
  'POST /workflows': { name: 'Taken over' },
  'GET /credits/budgets': undefined,
  'POST /credits/budgets': { scope: 'organisation', period: 'day', limit: 0 },
  'GET /credits/budgets/{budget_id}': undefined,
  'PATCH /credits/budgets/{budget_id}': { limit: 0 },
  'DELETE /credits/budgets/{budget_id}': undefined,
  'POST /sources/{source_id}': { name: 'Taken over' },
  'POST /sources/{source_id}/preview': {},
  'POST /sources/{source_id}/options/{field_name}': {},
}

const endpoints = Object.entries(app.api.swagger().paths ?? {})
  .filter(([path]) => path.startsWith('/api/v1/'))
  .map(([path, operations]) => ({ path: path.slice('/api/v1'.length), operations }))
  .filter(({ path }) => !path.includes('{workflow_id}'))
  .flatMap(({ path, operations }) =>
    Object.keys(operations ?? {}).map((verb) => `${verb.toUpperCase()} ${path}`),
  )
const isOpen = (name: string) => OPEN.some((pattern) => pattern.test(name))
const refused = endpoints.filter((name) => !isOpen(name))

it('each refused endpoint has a body to try it with, and each pattern an endpoint', () => {
  expect(refused.sort()).toEqual(Object.keys(BODIES).sort())
  expect(OPEN.filter((pattern) => !endpoints.some((name) => pattern.test(name)))).toEqual([])
})

it.each(refused)('D13: %s is 403 to a key with allowed_workflow_ids and changes nothing', async (name) => {
  const [method = '', path = ''] = name.split(' ')
  const url = path.replace('{source_id}', 'http_request').replace('{field_name}', 'method')
  const before = await recordsOf(app.store, org.orgId)
  const query = method === 'DELETE' ? `?email=${org.adminEmail}` : ''
  const answer = await app.call(narrowed, method, `${url}${query}`, BODIES[name])
  expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden'])
  expect(await recordsOf(app.store, org.orgId)).toEqual(before)
})

it.each(['/user', '/user/knowledge', '/workflows', '/shortcuts', '/sources', '/records/syncs'])(
  'GET %s is allowed',
  async (path) => {
    expect((await app.call(narrowed, 'GET', path)).status).toBe(200)
  },
)

it("GET /agent/runs/{request_id}: an administrator's narrowed key reads no runs of others", async () => {
  const member = await org.keyFor('asker@example.com', 'member')
  const asker = await app.store.system
    .selectFrom('members')
    .select('member_id')
    .where('email', '=', 'asker@example.com')
    .executeTakeFirstOrThrow()
  await app.store.query({
    text: `insert into agent_runs (org_id, agent_run_id, request_id, member_id, model, prompt, price_millis, state)
      values ($1, gen_random_uuid(), 'of-asker', $2, 'm', 'Private', 0, 'answered')`,
    values: [org.orgId, asker.member_id],
  })
  const read = async (key: string) => (await app.call(key, 'GET', '/agent/runs/of-asker')).status
  expect([await read(member), await read(org.key), await read(narrowed)]).toEqual([200, 200, 404])
})
