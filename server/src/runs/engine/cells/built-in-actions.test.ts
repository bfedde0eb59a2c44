import { expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { serveSite } from '../../../catalog/testing/site-server.ts'
import { ownPostings } from '../../../catalog/testing/sites/careers.ts'
import { corporate } from '../../../catalog/testing/sites/corporate.ts'
import { getBalance, MILLIS } from '../../../money/store/credits.ts'

const app = await makeApp()
await startTestWorker(app)

it('built-in actions run on rows, each settled by its outcome, and only answers are billed (D22)', async () => {
  const org = await app.makeOrg()
  const balance = async () => (await getBalance(app.store.system, org.orgId)) ?? Number.NaN
  const before = await balance()
  const base = await makeRowSheet(org, ['site', 'email'])
  const chain: [string, Record<string, string>][] = [
    ['scrape_website', { url: '{{input.site}}' }],
    ['company_profile_from_website', { domain: '{{input.site}}' }],
    ['detect_technologies', { domain: '{{input.site}}' }],
    ['verify_email', { email: '{{input.email}}' }],
    ['company_job_openings', { domain: '{{input.site}}' }],
  ]
  for (const [action_id, inputs] of chain) {
    const added = await org.call('POST', `${base}/actions/add`, { action_id, inputs })
    expect([added.status, added.body.warnings ?? []]).toEqual([201, []])
    const path = `${base}/actions/${added.body.data.action_instance_id}`
    await org.call('PATCH', path, { continue_workflow_if_action_fails: true })
  }
  const [company, gone] = await Promise.all([
    serveSite({ ...corporate, '/careers': ownPostings['/karriere/'] ?? '' }),
    serveSite({}),
  ])
  await org.call('POST', `${base}/rows`, {
    rows: [
      { site: company.origin, email: 'ann@mailinator.com' },
      { site: gone.origin, email: 'nonsense' },
    ],
  })
  await org.call('POST', `${base}/run-all`, {})
  const [first, second] = await settledRows(org, base, 60)
  expect(first?.cells).toMatchObject({
    scrape_website_1: {
      status: 'complete',
      outputs: { emails: ['hello@northwind.example', 'sales@northwind.example'] },
    },
    company_profile_from_website_1: {
      status: 'complete',
      outputs: { name: 'Northwind Robotics', country: 'US' },
    },
    detect_technologies_1: { status: 'complete', outputs: { technologies: [] } },
    verify_email_1: { status: 'complete', outputs: { status: 'disposable' } },
    company_job_openings_1: { status: 'complete', outputs: { count: 2 } },
  })
  const failed = { status: 'failed', error: expect.stringContaining('there is no such page') }
  expect(second?.cells).toMatchObject({
    scrape_website_1: failed,
    company_profile_from_website_1: failed,
    detect_technologies_1: failed,
    verify_email_1: { status: 'complete', outputs: { status: 'invalid' } },
    company_job_openings_1: failed,
  })
  // Four actions of 1 credit and two verifications of 0.1.
  expect(before - (await balance())).toBe(4.2 * MILLIS)
})
