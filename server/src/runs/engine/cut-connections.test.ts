import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const ROWS = 60
const CUTS = 10

const app = await makeApp({ services: { catalogue: await loadCatalogue() } })
const org = await app.makeOrg()

/** Makes actions of every kind that reach something: other sheets, this one, the sandbox, a server. */
async function makeChains(): Promise<{ bases: string[]; target: string }> {
  const { origin } = await serveHttp((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  const target = await makeRowSheet(org, ['name'])
  const target_sheet_id = target.split('/').at(-1)
  const conditions = [{ conditions: [{ variable: '{{input.name}}', operator: 'is', values: ['nobody'] }] }]
  const chains = [
    {
      action_id: 'send_to_sheet',
      inputs: { target_sheet_id, field_mapping: [{ name: 'name', value: '{{input.domain}}' }] },
    },
    { action_id: 'auto_dedupe_rows', inputs: { auto_dedupe_columns: ['domain'] } },
    { action_id: 'lookup_rows_in_sheet', inputs: { target_sheet_id, conditions } },
    { action_id: 'format_data_using_js_expression', inputs: { data_formatter: '{{input.domain}}.length' } },
    { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: `${origin}/{{input.domain}}` } },
  ]
  const bases = []
  for (const chain of chains) {
    const base = await makeRowSheet(org)
    const added = await org.call('POST', `${base}/actions/add`, chain)
    expect([chain.action_id, added.status, added.body.errors]).toEqual([chain.action_id, 201, undefined])
    await org.call('POST', `${base}/rows`, {
      rows: Array.from({ length: ROWS }, (_, n) => ({ domain: `d${n}` })),
    })
    bases.push(base)
  }
  return { bases, target }
}

it('R15: all connections are cut while actions of every kind run; no cell settles because of it', async () => {
  const { bases, target } = await makeChains()
  for (const base of bases) expect((await org.call('POST', `${base}/run-all`)).status).toBe(200)
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`select set_config('loam.org', '*', false)`)
  const count = async (text: string) => Number((await client.query(text)).rows[0]?.n)
  for (let cuts = 0; cuts < CUTS; cuts += 1) {
    const before = await count('select count(*) as n from cells')
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
    if ((await count('select count(*) as n from flights')) === 0) break
    await expect.poll(() => count('select count(*) as n from cells')).toBeGreaterThan(before)
  }
  await expect.poll(() => count('select count(*) as n from flights')).toBe(0)
  for (const base of bases) {
    const rows = await settledRows(org, base)
    expect(rows.filter((row) => row.row_status !== 'complete')).toEqual([])
    expect(rows).toHaveLength(ROWS)
  }
  const sent = await settledRows(org, target)
  const names = sent.map((row) => JSON.stringify(row.inputs))
  expect([names.length, new Set(names).size]).toEqual([ROWS, ROWS])
})

await startTestWorker(app, { concurrency: 30 })
