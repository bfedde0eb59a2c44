import { expect, it } from 'vitest'
import { exportsOf } from '#server/api/testing/exports.ts'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { setEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { dump } from '#test/plumbing/database-dump.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

/** Values that are used in one place each, and appear nowhere else. The last is a number where JSON has one. */
const CANARY = {
  FORMULA: 'Canary formula/1a2b',
  CHAINED: 'canary-chained-5e6f',
  ECHOED: 'canary-echoed-3c4d&x',
  KEYED: 'canary-keyed-77aa',
  SENT: 'canary-sent-88bb',
  RECORD: 'canary-record-99cc',
  COUNT: 'canary-count-10dd',
  NUMBER: '700123456789',
}

it('environment variables of 12 characters or more that a chain uses are in no output, error, sent row, record or export', async () => {
  const app = await makeApp()
  const { store, sealer } = app.services
  const org = await app.makeOrg()
  for (const [key, value] of [...Object.entries(CANARY), ['REGION', 'eu-west']] as const) {
    await setEnv(store.system, sealer, OPERATOR, {
      scope: { orgId: org.orgId, workflowId: null },
      key,
      value,
    })
  }
  const echo = await serveDouble(({ body, query }) => ({
    json: { seen: body, [String(query['key'])]: 1, nested: [{ [String(query['key'])]: { deep: query } }] },
  }))
  const numbers = await serveDouble(({ query }) => ({ json: { account: Number(query['n']) } }))
  const target = await makeRowSheet(org, ['token'])
  const base = await makeRowSheet(org, ['name'])
  const add = async (action_id: string, inputs: object) => {
    const answer = await org.call('POST', `${base}/actions/add`, {
      action_id,
      inputs,
      continue_workflow_if_action_fails: true,
    })
    expect([action_id, answer.status]).toEqual([action_id, 201])
  }
  const format = (data_formatter: string) => add('format_data_using_js_expression', { data_formatter })
  await format('"Bearer " + {{env.FORMULA}}')
  await format('{{env.FORMULA}}')
  await format('({k: {[{{env.FORMULA}}]: encodeURIComponent({{env.FORMULA}})}})')
  await format('"x" + {{env.CHAINED}}?.toString()')
  await format('(() => { throw new Error({{env.FORMULA}}) })()')
  await format('"in " + {{env.REGION}}')
  await add('http_api_call', {
    method: 'POST',
    endpoint: `${echo.origin}/?key={{env.KEYED}}`,
    raw_body: '{"token": "{{env.ECHOED}}"}',
  })
  await add('http_api_call', { method: 'GET', endpoint: `${numbers.origin}/?n={{env.NUMBER}}` })
  await add('http_api_call', { method: 'GET', endpoint: echo.origin, timeout_seconds: '{{env.COUNT}}' })
  await add('send_to_sheet', {
    target_sheet_id: target.split('/').at(-1),
    field_mapping: [{ name: 'token', value: 'my {{env.SENT}}' }],
  })
  await add('records_ingest', {
    source: 'test',
    entity_kind: 'company',
    identifiers: [{ name: 'domain', value: 'acme.example' }],
    fields: [{ name: 'note', value: '{{env.RECORD}}' }],
  })
  await startTestWorker(app)
  await org.call('POST', `${base}/rows`, { rows: [{ name: 'Ann' }], run_after_add: 'all' })
  const [row] = await settledRows(org, base)
  const [sent] = await settledRows(org, target)
  const { bytes } = await exportsOf(app, org).finish(base, { format: 'jsonl' })

  const sentOut = JSON.stringify([echo.seen, numbers.seen])
  for (const secret of [CANARY.KEYED, CANARY.ECHOED, CANARY.NUMBER]) expect(sentOut).toContain(secret)
  expect(Object.values(row?.cells ?? {}).map(({ status }) => status)).toEqual([
    ...Array(4).fill('complete'),
    'failed',
    ...Array(3).fill('complete'),
    'error',
    ...Array(2).fill('complete'),
  ])
  const shown = JSON.stringify([row, sent])
  const everything = { shown, exported: bytes.toString(), dumped: await dump(store) }
  const spellings = Object.values(CANARY).flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    secret.toLowerCase().replaceAll(/\W+/g, '_'),
  ])
  const leaks = Object.entries(everything).flatMap(([where, text]) =>
    spellings.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${where}`),
  )
  expect(leaks).toEqual([])
  // Only values long enough for a secret are hidden, and the text around them stays.
  expect(everything.exported).toContain('in eu-west')
  expect(everything.exported).toContain('Bearer [redacted]')
  expect(sent?.inputs).toEqual({ token: 'my [redacted]' })
})

it('I6: large outputs, which are masked and printed in turns with other work, hold none either', async () => {
  const app = await makeApp()
  const { store, sealer } = app.services
  const org = await app.makeOrg()
  const scope = { orgId: org.orgId, workflowId: null }
  await setEnv(store.system, sealer, OPERATOR, { scope, key: 'ECHOED', value: CANARY.ECHOED })
  const text = 'x'.repeat(300_000)
  const echo = await serveDouble(() => ({
    json: { text: `${text} ${CANARY.ECHOED}`, list: [{ [CANARY.ECHOED]: 1 }, 1.5], number: 5 },
  }))
  const base = await makeRowSheet(org, ['name'])
  const add = (action_id: string, inputs: object) =>
    org.call('POST', `${base}/actions/add`, { action_id, inputs })
  await add('http_api_call', { method: 'POST', endpoint: echo.origin, raw_body: '{{env.ECHOED}}' })
  await add('format_data_using_js_expression', {
    data_formatter: '{{http_api_call_1.text}}.slice(299990) + {{http_api_call_1.number}}',
  })
  await startTestWorker(app)
  await org.call('POST', `${base}/rows`, { rows: [{ name: 'Ann' }], run_after_add: 'all' })
  const [row] = await settledRows(org, base)
  const { bytes } = await exportsOf(app, org).finish(base, { format: 'jsonl' })

  expect(row?.cells).toMatchObject({
    format_data_using_js_expression_1: { outputs: { formatted_data: 'xxxxxxxxxx [redacted]5' } },
  })
  expect(bytes.toString()).toContain(`${text} [redacted]`)
  expect(`${bytes.toString()} ${await dump(store)}`).not.toContain(CANARY.ECHOED)
})
