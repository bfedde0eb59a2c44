import { expect, it } from 'vitest'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeChain } from '../../../api/testing/chain.ts'
import { connect, makeCrmApp } from '../../../api/testing/crm-account.ts'

const { app, asked, rules, origin } = await makeCrmApp()
await startTestWorker(app)

it('rows are looked up in Salesforce, and those that are not there are created in HubSpot', async () => {
  const org = await app.makeOrg()
  await connect(app, org, ['salesforce', 'Main'], {
    client_id: 'id',
    client_secret: 'client-secret',
    refresh_token: 'refresh-token',
  })
  await connect(app, org, ['hubspot', 'Main'], { secret: 'hubspot-token' })
  let tokens = 0
  let busy = 1
  rules.answer = ({ at, authorization, body }) => {
    if (at === 'POST /services/oauth2/token') return { json: { access_token: `token-${(tokens += 1)}` } }
    if (at.startsWith('GET /services/data/v59.0/query?q=')) {
      if (authorization !== 'Bearer token-2') return { status: 401, json: [{ message: 'Session expired' }] }
      return { json: { records: at.includes('known') ? [{ Id: '003A', Email: 'known@acme.example' }] : [] } }
    }
    if (at === 'GET /account-info/v3/details') return { json: { portalId: 42, uiDomain: 'app.hubspot.com' } }
    if (at !== 'POST /crm/v3/objects/contacts') return { status: 404 }
    if (busy-- > 0) return { status: 429, headers: { 'retry-after': '1' } }
    return body.includes('taken')
      ? { status: 409, json: { message: 'Contact already exists. Existing ID: 9' } }
      : { status: 201, json: { id: '501', properties: {} } }
  }

  const chain = await makeChain(app, org)
  const fields = [{ name: 'Email', value: '{{input.email}}' }]
  const lookup = await chain.add('salesforce_lookup_record', {
    inputs: { salesforce_object: 'Contact', add_fields_and_their_values: fields },
  })
  const create = await chain.add('hubspot_create_object', {
    inputs: { object_type: 'contacts', properties: [{ name: 'email', value: '{{input.email}}' }] },
    run_if: { variable: `{{${lookup}.record_id}}`, operator: 'is empty' },
  })
  const emails = ['known@acme.example', 'new@acme.example', 'taken@acme.example']
  await org.call('POST', `${chain.sheet}/rows`, {
    rows: emails.map((email) => ({ email })),
    run_after_add: 'all',
  })
  const rows = await settledRows(org, chain.sheet)
  expect(rows.map(({ cells }) => cells[lookup])).toMatchObject([
    {
      status: 'complete',
      outputs: {
        records_found: [{ Id: '003A', Email: 'known@acme.example' }],
        record_id: '003A',
        account_url: `${origin}/lightning/r/Contact/003A/view`,
      },
    },
    { status: 'complete', outputs: { records_found: [], record_id: null, account_url: null } },
    { status: 'complete' },
  ])
  expect(rows.map(({ cells }) => cells[create])).toMatchObject([
    { status: 'condition_not_met' },
    {
      status: 'complete',
      outputs: { record_id: '501', account_url: 'https://app.hubspot.com/contacts/42/record/0-1/501' },
    },
    { status: 'failed', error: expect.stringMatching(/Contact already exists\. Existing ID: 9/) },
  ])
  expect(tokens).toBe(2)
  expect(asked.filter(({ at }) => at === 'POST /crm/v3/objects/contacts')).toHaveLength(3)
})
