import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only' }
const org = await app.makeOrg()

const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Estimated' })).body.data
const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
await org.call('POST', `${base}/inputs`, [{ name: 'site', type: 'string' }])
for (const step of [
  { action_id: 'enrich_company', inputs: { domain: '{{input.site}}' } },
  { action_id: 'company_news', inputs: { domain: '{{input.site}}' } },
])
  expect((await org.call('POST', `${base}/actions/add`, step)).status).toBe(201)
await org.call('POST', `${base}/rows`, { rows: [{ site: 'a.com' }, { site: 'b.com' }, {}] })

const SHEET = ['estimate', '--sheet', workflow_id as string]
const estimate = (...args: string[]) => runLoam([...SHEET, ...args], ENV)
const asApiSays = async (body: object) => (await org.call('POST', `${base}/estimate`, body)).body.data

it.each<[string, string[], object]>([
  ['--all', ['--all'], { all: true }],
  ['no option', [], { all: true }],
  [
    '--all --action',
    ['--all', '--action', 'company_news_1'],
    { all: true, action_instance_id: 'company_news_1' },
  ],
  [
    '--all --max-credits',
    ['--all', '--max-credits', '1', '--exact'],
    { all: true, max_credits: 1, exact: true },
  ],
  ['--new-rows', ['--new-rows', '7'], { new_rows: 7 }],
])('with %s the figures are those of the API', async (_name, args, body) => {
  const { exit, stdout, stderr } = await estimate(...args, '--json')
  const expected = await asApiSays(body)
  expect([exit, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual(expected)
  expect(expected.credits.at_most).toBeGreaterThan(0)
})

it('--all prints the figures as text', async () => {
  const { rows, credits } = await asApiSays({ all: true })
  const { stdout } = await estimate('--all')
  expect(rows).toBe(3)
  expect(stdout).toContain(`3 rows: ${credits.expected} credits expected, ${credits.at_most} at most`)
})

it('--all and --new-rows exclude each other: exit 2', async () => {
  const { exit, stderr } = await estimate('--all', '--new-rows', '7')
  expect([exit, stderr]).toEqual([2, expect.stringContaining('cannot be combined with new-rows')])
})
