import { expect, it } from 'vitest'
import { airtable } from '#server/catalog/providers/airtable/provider.ts'
import { serveChat } from '#server/catalog/testing/chat-server.ts'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { serveSite } from '#server/catalog/testing/site-server.ts'
import { createLog } from '#server/lib/log.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { setEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { dump } from '#test/plumbing/database-dump.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'

/** The secrets. Each value appears nowhere else. */
const CANARY = {
  connection: 'canary-pat/5b6c+d7e8',
  variable: 'canary-variable-91f2',
  model: 'canary-model-key-33aa',
}

it('secrets that an outside server repeats are in no record, cursor, error, option, agent answer, export of them or log', async () => {
  const log: string[] = []
  const answers: string[] = []
  // The server returns all that it received, in texts, keys and the name of the next page. PHP escapes slashes in its
  // own way.
  const base = await serveDouble(({ path, query, headers }) => {
    const authorization = String(headers['authorization'])
    if (path.includes('/meta/'))
      return { json: { bases: [{ id: 'app12345678901234', name: authorization }] } }
    if (path.includes('Broken')) return { status: 422, json: { error: { message: `no, ${authorization}` } } }
    const fields = { seen: authorization, [authorization]: query, name: 'Acme' }
    const id = `rec-${query['offset'] ?? 'first'}`
    const next = query['offset'] === undefined ? { offset: `after-${authorization}` } : {}
    const text = JSON.stringify({ records: [{ id, fields }], ...next })
    return { text: query['offset'] === undefined ? text : text.replaceAll('/', String.raw`\/`) }
  })
  const list = await serveDouble(({ path, headers }) =>
    path === '/'
      ? { json: { items: [{ id: `1 ${String(headers['x-token'])}`, seen: headers }] } }
      : { status: 400, json: { seen: headers } },
  )
  const site = await serveSite({ '/about': '<title>About</title><p>Acme was founded by Ada Byron.</p>' })
  const chat = await serveChat(({ messages }) => {
    const said = JSON.stringify(messages)
    const source = { page: 1, quote: 'founded by Ada Byron' }
    const founder = { value: `Ada ${CANARY.model}`, sources: [source], reason: CANARY.model }
    if (said.includes('You answer from pages')) return { says: JSON.stringify({ founder }) }
    if (said.includes('<page number')) return { says: `done with ${CANARY.model}` }
    return { calls: [{ name: 'read_page', input: { url: `${site.origin}/about?${CANARY.model}` } }] }
  })
  const app = await makeApp({
    settings: {
      LOAM_PROVIDER_URL_AIRTABLE: base.origin,
      LOAM_MODEL_BASE_URL: chat.url,
      LOAM_MODEL_API_KEY: CANARY.model,
      LOAM_MODELS: 'scripted',
      LOAM_EGRESS_ALLOW: '127.0.0.0/8',
      LOAM_AGENT_PAGE_SECONDS: '0',
    },
    services: { log: createLog('trace', { write: (line) => void log.push(line) }) },
  })
  const { store, sealer } = app.services
  const org = await app.makeOrg()
  const call: typeof org.call = async (...args) => {
    const answer = await org.call(...args)
    answers.push(JSON.stringify(answer))
    return answer
  }
  const { orgId } = org
  const connection = { orgId, provider: airtable, name: 'Main', ownerId: null, shared: true }
  const fields = { secret: CANARY.connection }
  await addConnection(store.system, sealer, OPERATOR, { ...connection, fields })
  const variable = { key: 'TOKEN', value: CANARY.variable }
  await setEnv(store.system, sealer, OPERATOR, { scope: { orgId, workflowId: null }, ...variable })
  await startTestWorker(app)

  const create = async (type: string, body: object) =>
    (await call('POST', `/sources/${type}`, body)).body.data.source_instance_id as string
  const table = (name: string) => ({ base: 'app12345678901234', table: name })
  const api = {
    url: list.origin,
    items_path: 'items',
    key_path: 'id',
    headers: { 'X-Token': '{{env.TOKEN}}' },
  }
  await call('POST', '/sources/import_from_airtable/preview', table('Companies'))
  await call('POST', '/sources/import_from_airtable/preview', table('Broken'))
  await call('POST', '/sources/import_from_airtable/options/base', {})
  const ids = [
    await create('import_from_airtable', table('Companies')),
    await create('import_from_airtable', table('Broken')),
    await create('import_from_api', api),
    await create('import_from_api', { ...api, url: `${list.origin}/broken` }),
  ]
  const show = async (id: string) => (await call('GET', `/sources/${id}`)).body.data
  const statuses = () => Promise.all(ids.map(async (id) => (await show(id)).status as string))
  await expect.poll(async () => (await statuses()).filter((status) => status === 'active')).toEqual([])
  expect(await statuses()).toEqual(['completed', 'paused', 'completed', 'paused'])
  for (const id of ids) await call('GET', `/sources/${id}/data`)
  const output_schema = { properties: { founder: { type: 'string', description: 'Who founded it.' } } }
  const prompt = `Who founded Acme? See ${site.origin}/about`
  const asked = await call('POST', '/agent/run', { prompt, output_schema })
  expect(asked.status).toBe(200)
  await call('GET', `/agent/runs/${String(asked.headers['x-request-id'])}`)

  // The servers did receive the secrets, so there was something to hide.
  const sent = JSON.stringify([base.seen, list.seen])
  for (const secret of [CANARY.connection, CANARY.variable]) expect(sent).toContain(secret)
  const everything = { log: log.join('\n'), answers: answers.join('\n'), dumped: await dump(store) }
  const leaks = Object.entries(everything).flatMap(([where, text]) =>
    Object.entries(CANARY).flatMap(([what, secret]) =>
      [secret, encodeURIComponent(secret), secret.replaceAll('/', String.raw`\/`)].some((one) =>
        text.includes(one),
      )
        ? [`${what} in ${where}`]
        : [],
    ),
  )
  expect(leaks).toEqual([])
  expect(everything.dumped).toContain('[redacted]')
})
