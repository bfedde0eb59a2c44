import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../../../../../cli/testing/loam.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const app = await makeApp()
const org = await app.makeOrg()
const actions = app.services.catalogue.list()

it.each(actions)('$id can be added, read and configured', async ({ id, name, inputs }) => {
  const chain = await makeChain(app, org)
  const { status, body } = await chain.call('POST', '/add', { action_id: id })
  expect([status, body.data.display_name]).toEqual([201, name])
  expect(body.data.inputs.map((input: { name: string }) => input.name)).toEqual(Object.keys(inputs))
  const node = await chain.call('GET', `/${id}_1`)
  expect(node.body.data).toMatchObject({ action_id: id, inputs: {}, next: [] })
  const codes = new Set((node.body.warnings ?? []).map((warning: { code: string }) => warning.code))
  const expected = new Set(['required_field_missing', 'provider_not_configured'])
  expect([...codes].filter((code) => !expected.has(code as string))).toEqual([])
  expect((await chain.call('GET', `/${id}_1/outputs`)).status).toBe(200)
  for (const field of Object.keys(inputs)) {
    // For any nonsense in a field, the response is a valid answer and not a failure of ours. The answer is the node as it is
    // read.
    for (const value of [null, '', '{{input.email}}', 5, true, [], ['x'], {}, [{}], [{ conditions: [] }]]) {
      const answer = await chain.call('PATCH', `/${id}_1`, { inputs: { [field]: value } })
      expect([200, 400]).toContain(answer.status)
    }
    expect((await chain.call('GET', `/${id}_1`)).status).toBe(200)
    expect([200, 400, 404]).toContain((await chain.call('POST', `/${id}_1/options/${field}`, {})).status)
  }
})

describe('GET /actions', () => {
  it('is the catalogue, as `loam actions --json` prints it', async () => {
    const { status, body } = await org.call('GET', '/actions')
    expect([status, body.data]).toEqual([200, JSON.parse((await runLoam(['actions', '--json'], {})).stdout)])
    expect(body.data.length).toBe(actions.length)
  })

  it.each(['http_api_call', 'person_work_email_waterfall', 'filter'])(
    '/%s is the action, as `loam actions show` prints it',
    async (id) => {
      const { status, body } = await org.call('GET', `/actions/${id}`)
      const { stdout } = await runLoam(['actions', 'show', id, '--json'], {})
      expect([status, body.data]).toEqual([200, JSON.parse(stdout)])
    },
  )

  it('every action is returned in the shape of the contract', async () => {
    for (const { id } of actions) expect((await org.call('GET', `/actions/${id}`)).status).toBe(200)
  })

  it('one that there is not is 404 and names the nearest', async () => {
    const { status, body } = await org.call('GET', '/actions/http_api_cal')
    expect([status, body.message]).toEqual([
      404,
      'There is no action http_api_cal; did you mean http_api_call?',
    ])
  })

  it('needs actions:read', async () => {
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] })
    expect((await app.call(key, 'GET', '/actions')).status).toBe(403)
    const reader = await org.keyFor(org.adminEmail, 'admin', { scopes: ['actions:read'] })
    expect((await app.call(reader, 'GET', '/actions')).status).toBe(200)
  })
})
