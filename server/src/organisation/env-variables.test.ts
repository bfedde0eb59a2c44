import { beforeAll, describe, expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { setEnv, unsetEnv } from './env-variables.ts'
import { OPERATOR } from './store/audit.ts'

const app = await makeApp()
await startTestWorker(app)
const { sealer, store } = app.services
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const set = (key: string, value: string, workflowId: string | null = null) =>
  setEnv(store.system, sealer, OPERATOR, { scope: { orgId: org.orgId, workflowId }, key, value })
const unset = (key: string, workflowId: string | null = null) =>
  unsetEnv(store.system, OPERATOR, { orgId: org.orgId, workflowId }, key)

async function makeSheet(formula: string) {
  const base = await makeRowSheet(org, ['n'])
  const added = await org.call('POST', `${base}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: formula },
  })
  await org.call('POST', `${base}/rows`, { rows: [{ n: '1' }] })
  return { base, workflowId: base.split('/')[2] ?? '', warnings: added.body.warnings }
}

async function runOnce(base: string) {
  await org.call('POST', `${base}/run-all`, {})
  const [row] = await settledRows(org, base)
  return row?.cells['format_data_using_js_expression_1'] as unknown
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 1100))

describe('environment variables', () => {
  it('without a value the action is saved with a warning, and rows fail until the value is set (D18)', async () => {
    const { base, warnings } = await makeSheet('"{{env.GREETING}}!"')
    expect(warnings).toMatchObject([{ field: 'inputs.data_formatter', code: 'env_variable_unavailable' }])
    expect(await runOnce(base)).toEqual({
      status: 'error',
      error: 'the environment variable GREETING has no value here',
    })
    await set('GREETING', 'hello')
    const again = await org.call('GET', `${base}/actions/format_data_using_js_expression_1`)
    expect(again.body.warnings ?? []).toEqual([])
    await pause()
    expect(await runOnce(base)).toMatchObject({ status: 'complete', outputs: { formatted_data: 'hello!' } })
  })

  it("a workflow's own variable overrides the organisation's, and no other workflow sees it", async () => {
    await set('PLACE', 'everywhere')
    const [here, there] = [await makeSheet('"{{env.PLACE}}"'), await makeSheet('"{{env.PLACE}}"')]
    await set('PLACE', 'here', here.workflowId)
    await set('ONLY_HERE', 'x', here.workflowId)
    expect(await runOnce(here.base)).toMatchObject({ outputs: { formatted_data: 'here' } })
    expect(await runOnce(there.base)).toMatchObject({ outputs: { formatted_data: 'everywhere' } })
    expect((await makeSheet('"{{env.ONLY_HERE}}"')).warnings).toMatchObject([
      { code: 'env_variable_unavailable' },
    ])
    await unset('PLACE', here.workflowId)
    await pause()
    expect(await runOnce(here.base)).toMatchObject({ outputs: { formatted_data: 'everywhere' } })
  })

  it('another organisation sees none of them', async () => {
    await set('SECRET', 'x')
    const other = await app.makeOrg()
    const base = await makeRowSheet(other, ['n'])
    const { body } = await other.call('POST', `${base}/actions/add`, {
      action_id: 'format_data_using_js_expression',
      inputs: { data_formatter: '"{{env.SECRET}}"' },
    })
    expect(body.warnings).toMatchObject([{ code: 'env_variable_unavailable' }])
  })

  it('a reply that repeats a credential is stored without it, also in error texts', async () => {
    await set('TOKEN', 'canary-0123456789')
    await set('REGION', 'europe-west')
    const { origin } = await serveHttp((request, response) => {
      response.statusCode = request.url?.startsWith('/fail') ? 400 : 200
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          said: request.headers.authorization,
          region: 'europe-west',
        }),
      )
    })
    const base = await makeRowSheet(org, ['path'])
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'http_api_call',
      inputs: {
        method: 'GET',
        endpoint: `${origin}/{{input.path}}`,
        headers: [{ name: 'Authorization', value: 'Bearer {{env.TOKEN}}' }],
        query_params: [{ name: 'region', value: '{{env.REGION}}' }],
      },
    })
    await org.call('POST', `${base}/rows`, {
      rows: [{ path: 'ok' }, { path: 'fail' }],
      run_after_add: 'all',
    })
    const cells = (await settledRows(org, base)).map((row) => row.cells['http_api_call_1'] as unknown)
    expect(cells).toMatchObject([
      { status: 'complete', outputs: { said: 'Bearer [redacted]', region: 'europe-west' } },
      { status: 'failed', error: expect.stringContaining('Bearer [redacted]') },
    ])
  })

  it.each([
    ['1X', 'v'],
    ['A-B', 'v'],
    ['', 'v'],
    ['A', ''],
    ['A', 'x'.repeat(65_537)],
  ])('%s is not set to %.5s', async (key, value) => {
    await expect(set(key, value)).rejects.toThrow('validation')
  })

  it('an unknown variable cannot be unset', async () => {
    await expect(unset('NOBODY')).rejects.toThrow('Environment variable NOBODY not found')
  })
})
