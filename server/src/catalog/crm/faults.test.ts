import { describe, expect, it } from 'vitest'
import { connectionTo, providerOf, REFRESHING, runAt, TOKEN } from '../testing/crm.ts'
import { makeAskContext, type Reply } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

type Call = { action: string; inputs: Record<string, unknown>; hit: Reply; repeatable: boolean }
const pairs = [{ name: 'Email', value: 'ann@acme.example' }]
const salesforce = { salesforce_object: 'Contact', add_fields_and_their_values: pairs }
const hubspot = { object_type: 'contacts', properties: [{ name: 'email', value: 'ann@acme.example' }] }
const written: Reply = { json: { id: '1' } }
const values = [{ name: 'email', value: 'ann@acme.example' }]
const lead = { email: 'ann@acme.example' }

const call = (action: string, inputs: Call['inputs'], hit = written, repeatable = true): Call => ({
  action,
  inputs,
  hit,
  repeatable,
})
const CALLS = [
  call('salesforce_lookup_record', salesforce, { json: { records: [] } }),
  call('salesforce_create_record', salesforce, written, false),
  call('salesforce_update_record', { ...salesforce, record_id: '1' }, { status: 204, text: '' }),
  call('salesforce_upsert_record', { ...salesforce, salesforce_external_id_field: 'Email' }),
  call('hubspot_lookup_object', hubspot, { json: { results: [] } }),
  call('hubspot_create_object', hubspot, written, false),
  call('hubspot_update_object', { ...hubspot, record_id: '1' }),
  call('hubspot_upsert_object', hubspot),
  call(
    'pipedrive_upsert',
    { object: 'persons', match_field: 'email', values },
    { json: { data: { items: [], id: 1 } } },
  ),
  call(
    'attio_upsert_record',
    { object: 'people', match_field: 'email', values },
    { json: { data: { id: { record_id: '1' } } } },
  ),
  call(
    'airtable_upsert_record',
    { base: 'appA1B2C3D4E5F6G7', table: 'Leads', match_fields: ['email'], values },
    { json: { records: [{ id: 'rec1' }] } },
  ),
  call(
    'google_sheets_append_row',
    { spreadsheet_id: 'abcdefghij', sheet_name: 'Leads', values },
    { json: { values: [['email']], updates: { updatedRange: 'Leads!A2:A2' } } },
  ),
  call(
    'notion_create_page',
    { database: '0123456789abcdef0123456789abcdef', values },
    { json: { id: '1', data_sources: [{ id: '1' }], properties: { email: { type: 'email' } } } },
  ),
  call('snowflake_insert_row', { table: 'LEADS', values }, { json: { statementHandle: 'h', data: [['1']] } }),
  call('smartlead_add_lead', { campaign: '12', ...lead }, { json: { id: 1, total_leads: 1 } }),
  call('instantly_add_lead', { campaign: '01a14549-bd67-7b6b-a7c0-add14d390c6e', ...lead }),
]
/** The providers whose tokens expire. The keys of the others do not. */
const REFRESHED = new Set(['salesforce', 'hubspot', 'pipedrive', 'google_sheets'])

const failing = (message: RegExp) => ({ kind: 'failed', message: expect.stringMatching(message) })
const LEFT_OPEN = { kind: 'wait', state: { open: { since: expect.any(Number), tries: 1 } } }
const FAULTS: [string, Reply, object][] = [
  [
    'a bad key',
    { status: 401, json: [{ message: `no ${TOKEN}` }] },
    failing(/the key was refused \(HTTP 401\)/),
  ],
  ['slow down until', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'retry', afterMs: 7000 }],
  ['slow down', { status: 429 }, { kind: 'retry' }],
  ['5xx', { status: 503, text: `down ${TOKEN}` }, { kind: 'retry' }],
  ['cut off', { text: '{"id": "1' }, failing(/not valid JSON/)],
  ['no JSON', { text: '<html>hello</html>' }, failing(/not valid JSON/)],
  ['oversized', { headers: { 'content-length': '6000000' }, text: '"x' }, failing(/bytes/)],
]

describe.each(CALLS.map((one): [string, Call] => [one.action, one]))('%s', (action, one) => {
  const crm = providerOf(action)
  const run = (answer: Parameters<typeof runAt>[2], settings = {}) =>
    runAt(runAction, [action, one.inputs], answer, settings)

  it.each(FAULTS)('%s', async (name, reply, expected) => {
    const { outcome } = await run(() => reply)
    expect(outcome).toMatchObject(name === '5xx' && !one.repeatable ? LEFT_OPEN : expected)
    expect(JSON.stringify(outcome)).not.toContain(TOKEN)
  })

  it('a reply of another shape fails if anything is read from it', async () => {
    const expected = action === 'salesforce_update_record' ? { kind: 'done' } : failing(/expected shape/)
    expect((await run(() => ({ json: [[1]] }))).outcome).toMatchObject(expected)
  })

  it('a call that hangs is retried, and what it may have created is searched for first', async () => {
    const { egress } = makeAskContext({}, { timeoutMs: 150 })
    const { outcome } = await run(() => ({ hang: true }), { egress })
    expect(outcome).toMatchObject(one.repeatable ? { kind: 'retry' } : LEFT_OPEN)
  })

  if (REFRESHED.has(crm)) testTokens()

  function testTokens() {
    it('a token that ended early is replaced once', async () => {
      let made = 0
      const keys = connectionTo(crm, REFRESHING)
      const isToken = (path: string) => path.endsWith('/token')
      const good = await run(
        ({ path, headers }) => {
          if (isToken(path)) return { json: { access_token: `access-${(made += 1)}-0123456789` } }
          return headers.authorization === 'Bearer access-2-0123456789' ? one.hit : { status: 401 }
        },
        { keys },
      )
      expect([good.outcome.kind, made]).toEqual(['done', 2])
      const bad = await run(
        ({ path }) => (isToken(path) ? { json: { access_token: 'access-3-0123456789' } } : { status: 401 }),
        { keys: connectionTo(crm, REFRESHING) },
      )
      expect(bad.outcome).toMatchObject(failing(/the key was refused \(HTTP 401\)/))
      expect(bad.asked.filter(({ path }) => isToken(path))).toHaveLength(2)
    })

    it('a revoked refresh token fails with the message of the server', async () => {
      const { outcome } = await run(() => ({ status: 400, json: { error: 'invalid_grant' } }), {
        keys: connectionTo(crm, REFRESHING),
      })
      expect(outcome).toMatchObject(failing(/the key was refused \(HTTP 400\).*invalid_grant/))
    })
  }

  it('D66: without a connection it is an error', async () => {
    const inputs = { ...one.inputs, connection: 'Other' }
    expect(await runAction(action, inputs, { keys: connectionTo(crm) })).toMatchObject({
      kind: 'unrunnable',
      message: expect.stringMatching(/there is no connection "Other" to/),
    })
    expect(await runAction(action, one.inputs)).toMatchObject({
      kind: 'unrunnable',
      message: expect.stringMatching(/is not connected; add it with loam connection add --provider/),
    })
  })
})
