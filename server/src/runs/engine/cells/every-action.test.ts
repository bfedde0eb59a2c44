import { expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { CHROMIUM } from '#test/plumbing/chromium.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { loadProviders } from '../../../catalog/providers/registry.ts'
import { loadCatalogue } from '../../../catalog/registry.ts'
import { serveSite } from '../../../catalog/testing/site-server.ts'
import { addConnection } from '../../../organisation/connections.ts'
import { OPERATOR } from '../../../organisation/store/audit.ts'

const SCRIPTED =
  '<html><title>Acme</title><body><p id="said"></p><script>said.append("drawn " + 6 * 7)</script>'

/** Makes an application on which every provider is connected, and answers `{}`. */
async function connectAll() {
  const [site, answering, providers, catalogue] = await Promise.all([
    serveSite({ '/': SCRIPTED }),
    serveHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }),
    loadProviders(),
    loadCatalogue(),
  ])
  const app = await makeApp({
    settings: {
      LOAM_BROWSER: CHROMIUM,
      LOAM_MODEL_BASE_URL: `${answering.origin}/v1`,
      LOAM_MODELS: 'scripted',
      ...Object.fromEntries(
        providers.flatMap(({ id, requiresOwnKey }) => [
          [`LOAM_PROVIDER_URL_${id.toUpperCase()}`, answering.origin],
          ...(requiresOwnKey ? [] : [[`LOAM_PROVIDER_KEY_${id.toUpperCase()}`, 'x']]),
        ]),
      ),
    },
  })
  await startTestWorker(app)
  const org = await app.makeOrg()
  for (const provider of providers) {
    const names = [...(provider.fields.sets[0] ?? []), ...provider.fields.others]
    const fields = Object.fromEntries(names.map((name) => [name, 'x']))
    const connection = { orgId: org.orgId, provider, name: 'Mine', ownerId: null, shared: true, fields }
    await addConnection(app.store.system, app.services.sealer, OPERATOR, connection)
  }
  return { org, site, catalogue }
}

/** Fills required fields: the first of these values that a field accepts, if none is named for it. */
const GENERIC = ['{{input.site}}', '1', ['{{input.site}}'], [{ name: 'name', value: 'Acme' }]]
const CONDITIONS = [
  { conditions: [{ variable: '{{input.site}}', operator: 'equals to', values: ['{{input.site}}'] }] },
]
const NAMED: Record<string, unknown> = {
  mission: 'What does {{input.site}} say?',
  data_formatter: '1 + 1',
  array: '[{"name": "Acme"}]',
  lists: ['[1]', '[2]'],
  time: '0',
  sql: 'select 1',
  object: 'people',
  object_type: 'contacts',
  record_id: '0015g00000XXXXXXXX',
  spreadsheet_id: 'x'.repeat(44),
  salesforce_external_id_field: 'Id__c',
  email: 'ann@acme.example',
  to: 'ann@acme.example',
  render: 'browser',
  board: 'greenhouse:acme',
  base: 'appABCDEFGHIJKLMN',
  salesforce_object: 'Account',
  campaign: '1',
  table: 'LEADS',
  model: 'scripted',
  select_a_model: 'scripted',
  conditions: CONDITIONS,
  path_conditions: CONDITIONS,
  linkedin_url: 'https://www.linkedin.com/in/ann',
}

// Each action goes through the engine's own context, whose getters and methods a copy of it would lose.
it(
  'F63: every action of the catalogue runs once on a row without an error of its own',
  { timeout: 240_000 },
  async () => {
    const { org, site, catalogue } = await connectAll()
    const runs = await Promise.all(
      catalogue.list().map(async (action) => {
        const base = await makeRowSheet(org, ['site'])
        const offered: Record<string, unknown> = { target_sheet_id: base.split('/').at(-1), ...NAMED }
        const filled = new Set(['render', ...action.needs.flat()])
        const inputs = Object.fromEntries(
          Object.entries(action.inputs).flatMap(([name, field]) => {
            if (field.waterfall !== undefined || !(field.required || filled.has(name))) return []
            const fixed = field.options !== undefined && 'fixed' in field.options ? field.options.fixed : []
            const tried = [offered[name], ...fixed.map(({ value }) => value), ...GENERIC]
            const taken = tried.find(
              (value) => value !== undefined && field.check(value, name).kind === 'save',
            )
            return taken === undefined ? [] : [[name, taken]]
          }),
        )
        const added = await org.call('POST', `${base}/actions/add`, { action_id: action.id, inputs })
        expect([action.id, added.status, added.body.errors]).toEqual([action.id, 201, undefined])
        const rows = [{ site: `${site.origin}/` }]
        expect((await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })).status).toBe(201)
        return { id: action.id, base }
      }),
    )
    const cells: Record<string, { status: string; error?: string; outputs?: unknown }> = {}
    for (const { id, base } of runs) {
      const [row] = await settledRows(org, base, 200)
      cells[id] = row?.cells[`${id}_1`] ?? { status: 'none' }
    }
    const OURS = /unexpectedly|internal|is not a function|Cannot read|of undefined/i
    const wrong = Object.entries(cells).filter(([, { error = '' }]) => OURS.test(error))
    expect(wrong).toEqual([])
    const ends = Object.values(cells).map(({ status }) => status)
    expect(ends.filter((status) => status === 'none')).toEqual([])
    expect(cells['scrape_website']).toMatchObject({
      status: 'complete',
      outputs: { markdown: expect.stringContaining('drawn 42') },
    })
  },
)
