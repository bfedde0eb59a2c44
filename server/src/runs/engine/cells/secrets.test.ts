import { expect, it } from 'vitest'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import { type Reply, serveDouble } from '#server/catalog/testing/provider-double.ts'
import { createLog } from '#server/lib/log.ts'
import { addConnection, pickProvider } from '#server/organisation/connections.ts'
import { setEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { dump } from '#test/plumbing/database-dump.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

/** Secrets of every kind, each with a word that appears nowhere else. */
const CANARY = {
  platform: 'canary-platform-4f1c',
  own: 'canary-own-key-9b2e',
  clientSecret: 'canary-client-secret-77aa',
  accessToken: 'canary-access-token-c0de',
  ofOrganisation: 'canary-env-organisation-1d1d',
  ofWorkflow: 'canary-env-workflow-2e2e',
}

it('no secret is in a dump of the database, the log or any answer', async () => {
  const log: string[] = []
  const answers: string[] = []
  const dumps: string[] = []
  // Every double repeats what it was sent: headers, address and body.
  const echo = (status: number, more: Partial<Reply> = {}) =>
    serveDouble(({ headers, query, body }) => ({
      status,
      json: { message: `seen ${JSON.stringify({ headers, query, body })}`, error: JSON.stringify(query) },
      ...more,
    }))
  let slow = 1
  const hunter = await serveDouble(({ headers }) =>
    slow-- > 0
      ? { status: 429, headers: { 'retry-after': '1' }, json: { seen: headers } }
      : { status: 401, json: { seen: headers } },
  )
  const snov = await serveDouble(({ path, headers }) =>
    path.endsWith('/access_token')
      ? { json: { access_token: CANARY.accessToken, expires_in: 3600 } }
      : { status: 400, json: { seen: headers } },
  )
  const doubles = {
    prospeo: await echo(400),
    leadmagic: await echo(200),
    findymail: await echo(403),
    datagma: await echo(418),
  }
  const echoing = await echo(200)
  const failing = await echo(400)

  const urls = { hunter, snov, ...doubles }
  const settings = Object.fromEntries([
    ...Object.entries(urls).map(([id, { origin }]) => [`LOAM_PROVIDER_URL_${id.toUpperCase()}`, origin]),
    ...Object.keys(doubles).map((id) => [`LOAM_PROVIDER_KEY_${id.toUpperCase()}`, CANARY.platform]),
  ]) as Record<string, string>
  const app = await makeApp({
    settings,
    services: { log: createLog('trace', { write: (line) => void log.push(line) }) },
  })
  const { store, sealer } = app.services
  const org = await app.makeOrg()
  const call: typeof org.call = async (...args) => {
    const answer = await org.call(...args)
    answers.push(JSON.stringify(answer))
    return answer
  }

  const providers = await loadProviders()
  const connect = (id: string, fields: Record<string, string>) =>
    addConnection(store.system, sealer, OPERATOR, {
      orgId: org.orgId,
      provider: pickProvider(providers, id),
      name: 'Main',
      ownerId: null,
      shared: true,
      fields,
    })
  await connect('hunter', { secret: CANARY.own })
  await connect('snov', { client_id: 'id', client_secret: CANARY.clientSecret })
  const base = await makeRowSheet({ ...org, call }, ['name', 'url'])
  const workflowId = base.split('/')[2] ?? ''
  const set = (scope: string | null, key: string, value: string) =>
    setEnv(store.system, sealer, OPERATOR, { scope: { orgId: org.orgId, workflowId: scope }, key, value })
  await set(null, 'ORG_TOKEN', CANARY.ofOrganisation)
  await set(workflowId, 'FLOW_TOKEN', CANARY.ofWorkflow)

  const add = (action_id: string, inputs: object) =>
    call('POST', `${base}/actions/add`, { action_id, inputs, continue_workflow_if_action_fails: true })
  await add('person_work_email_waterfall', {
    full_name: '{{input.name}}',
    company_domain: 'acme.example',
    email_providers: [
      { name: 'Hunter', use_own_key: true },
      { name: 'Snov', use_own_key: true },
      'Prospeo',
      'LeadMagic',
      'Findymail',
      'Datagma',
    ],
    email_validation: ['None'],
  })
  await add('http_api_call', {
    method: 'POST',
    endpoint: '{{input.url}}',
    headers: [
      { name: 'Authorization', value: 'Bearer {{env.ORG_TOKEN}}' },
      { name: 'X-Flow', value: '{{env.FLOW_TOKEN}}' },
    ],
  })
  await startTestWorker(app)
  const rows = [echoing, failing, { origin: 'http://127.0.0.1:1' }].map(({ origin }) => ({
    name: 'Ann Lee',
    url: origin,
  }))
  await call('POST', `${base}/rows`, { rows, run_after_add: 'all' })
  const watching = setInterval(() => void dump(store).then((text) => dumps.push(text)), 200)
  const settled = await settledRows({ ...org, call }, base, 60)
  clearInterval(watching)

  expect(settled.map(({ cells }) => Object.values(cells).map(({ status }) => status))).toEqual([
    ['complete', 'complete'],
    ['complete', 'failed'],
    ['complete', 'failed'],
  ])
  for (const { row_id } of settled) {
    for (const action of ['person_work_email_waterfall_1', 'http_api_call_1']) {
      const { body } = await call('GET', `${base}/rows/${row_id}/cells/${action}`)
      expect(body.data.status).toBeDefined()
    }
  }
  await call('GET', `${base}/actions/graph`)
  await call('GET', `${base}/actions/http_api_call_1/outputs`)
  await call('POST', `${base}/actions/person_work_email_waterfall_1/options/email_providers`, {})
  dumps.push(await dump(store))

  // The doubles did receive the secrets, so there was something to hide.
  const sent = JSON.stringify([hunter, snov, echoing, ...Object.values(doubles)].map(({ seen }) => seen))
  for (const secret of Object.values(CANARY)) expect(sent).toContain(secret)
  expect(dumps.length).toBeGreaterThan(1)
  const everything = { log: log.join('\n'), answers: answers.join('\n'), dumps: dumps.join('\n') }
  const leaks = Object.entries(everything).flatMap(([where, text]) =>
    Object.entries(CANARY).flatMap(([what, secret]) =>
      text.includes(secret) ? [`${what} in ${where}`] : [],
    ),
  )
  expect(leaks).toEqual([])
  expect(everything.answers).toContain('[redacted]')
})
