import { expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'
import { makeChain } from '../../testing/chain.ts'

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
    // Whatever a field makes of nonsense, it is an answer and not a failure of ours.
    for (const value of [null, '', '{{input.email}}', 5, true, [], ['x'], {}, [{}], [{ conditions: [] }]]) {
      const answer = await chain.call('PATCH', `/${id}_1`, { inputs: { [field]: value } })
      expect([200, 400]).toContain(answer.status)
      if (answer.status === 200) expect((await chain.call('GET', `/${id}_1`)).status).toBe(200)
    }
    expect([200, 400, 404]).toContain((await chain.call('POST', `/${id}_1/options/${field}`, {})).status)
  }
})
