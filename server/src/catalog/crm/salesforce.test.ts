import { describe, expect, it } from 'vitest'
import type { EgressRequest } from '../../lib/egress/request.ts'
import { connectionTo, printSeen, REFRESHING, runAt, TOKEN } from '../testing/crm.ts'
import { type Double, makeAskContext, type Reply, serveDouble } from '../testing/provider-double.ts'
import { type Settings, useActions } from '../testing/run-action.ts'

const runAction = useActions()
const OBJECTS = '/services/data/v59.0/sobjects'
const ID = '001xx000003DGb2AAG'
const row = { input: { name: "O'Hara", size: 12, none: null, tags: ['a', 'b'] } }

type Inputs = Record<string, unknown>
const of = (...pairs: [string, unknown][]) => pairs.map(([name, value]) => ({ name, value }))

const run = (action: string, inputs: Inputs, replies: Reply[], settings: Settings = {}) =>
  runAt(
    runAction,
    [`salesforce_${action}_record`, { salesforce_object: 'Account', ...inputs }],
    (_seen, place) => replies[Math.min(place, replies.length - 1)] ?? {},
    { row, ...settings },
  )

describe('salesforce_lookup_record', () => {
  const lookUp = (inputs: Inputs, ...replies: Reply[]) => run('lookup', inputs, replies)
  const fields = of(['Name', '{{input.name}}'], ['Website', '{{input.none}}'])

  it('finds records by escaped values and leaves out empty ones', async () => {
    const attributes = { type: 'Account', url: `/x/${ID}` }
    const records = [{ attributes, Id: ID, Name: "O'Hara", Owner: { attributes, Name: 'Ann' } }, { Id: '2' }]
    const { outcome, asked, origin } = await lookUp(
      { add_fields_and_their_values: fields },
      { json: { totalSize: 2, done: true, records } },
    )
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        records_found: [{ Id: ID, Name: "O'Hara", Owner: { Name: 'Ann' } }, { Id: '2' }],
        record_id: ID,
        account_url: `${origin}/lightning/r/Account/${ID}/view`,
      },
    })
    expect(JSON.stringify(outcome)).not.toContain('attributes')
    expect(asked).toMatchObject([
      {
        method: 'GET',
        path: '/services/data/v59.0/query',
        headers: { authorization: `Bearer ${TOKEN}` },
        query: { q: String.raw`SELECT FIELDS(ALL) FROM Account WHERE Name = 'O\'Hara' LIMIT 10` },
      },
    ])
  })

  it.each<[Inputs, string]>([
    [{ ignore_empty_values: false }, String.raw`Name = 'O\'Hara' AND Website = null LIMIT 10`],
    [
      { search_operator: 'or', ignore_empty_values: false },
      String.raw`Name = 'O\'Hara' OR Website = null LIMIT 10`,
    ],
    [{ exact_match: false, limit: '3' }, String.raw`Name LIKE '%O\'Hara%' LIMIT 3`],
  ])('%j', async (inputs, end) => {
    const { asked } = await lookUp(
      { add_fields_and_their_values: fields, ...inputs },
      { json: { records: [] } },
    )
    expect(asked[0]?.query['q']?.split(' WHERE ')[1]).toBe(end)
  })

  it('a search without hits is an answer with an empty list', async () => {
    const { outcome } = await lookUp({ add_fields_and_their_values: fields }, { json: { records: [] } })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { records_found: [], record_id: null, account_url: null },
    })
  })

  it('numbers in texts are searched for again without quotes, as Salesforce requires', async () => {
    const message =
      "\nSELECT FIELDS(ALL) FROM Account WHERE Code__c = '7'\n      ^\nERROR at Row:1:Column:51\nvalue of filter criterion for field 'Code__c' must be of type double and should not be enclosed in quotes"
    const { outcome, asked } = await lookUp(
      { add_fields_and_their_values: of(['Size__c', '{{input.size}}'], ['Code__c', '7']) },
      { status: 400, json: [{ message, errorCode: 'INVALID_FIELD' }] },
      { json: { records: [] } },
    )
    expect(outcome.kind).toBe('done')
    expect(asked.map(({ query }) => query['q']?.split(' WHERE ')[1])).toEqual([
      "Size__c = 12 AND Code__c = '7' LIMIT 10",
      'Size__c = 12 AND Code__c = 7 LIMIT 10',
    ])
  })

  it.each<[string, Inputs, RegExp]>([
    [
      'an object',
      { salesforce_object: 'Account WHERE Id != null' },
      /salesforce_object: .* is not an API name/,
    ],
    [
      'a field',
      { add_fields_and_their_values: of(["Name = '' OR Id", 'x']) },
      /is not the API name of a field/,
    ],
    ['a field to return', { fields_to_return: ['Id FROM User'] }, /fields_to_return/],
    ['no value', { add_fields_and_their_values: of(['Name', '{{input.none}}']) }, /nothing to look for/],
  ])('what cannot be asked never leaves: %s', async (_name, inputs, message) => {
    const { outcome, asked } = await lookUp({ add_fields_and_their_values: fields, ...inputs })
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})

describe('salesforce writes', () => {
  const values = of(
    ['Name', '{{input.name}}'],
    ['NumberOfEmployees', '{{input.size}}'],
    ['Tags__c', '{{input.tags}}'],
    ['Website', ''],
  )
  const written = { Name: "O'Hara", NumberOfEmployees: 12, Tags__c: 'a;b' }
  const upsert = {
    salesforce_external_id_field: 'Ext__c',
    add_fields_and_their_values: [...values, ...of(['ext__c', 'a/b ?'])],
  }

  it.each<[string, Inputs, Reply, [string, unknown], object]>([
    [
      'create',
      {},
      { status: 201, json: { id: ID, success: true, errors: [] } },
      [`POST ${OBJECTS}/Account`, written],
      {},
    ],
    [
      'create',
      { ignore_empty_values: false },
      { status: 201, json: { id: ID, success: true, errors: [] } },
      [`POST ${OBJECTS}/Account`, { ...written, Website: null }],
      {},
    ],
    [
      'update',
      { record_id: ` ${ID} ` },
      { status: 204, text: '' },
      [`PATCH ${OBJECTS}/Account/${ID}`, written],
      {},
    ],
    [
      'upsert',
      upsert,
      { status: 201, json: { id: ID, success: true, errors: [], created: true } },
      [`PATCH ${OBJECTS}/Account/Ext__c/a%2Fb%20%3F`, written],
      { created: true },
    ],
    [
      'upsert',
      { ...upsert, record_id: '77' },
      { json: { id: ID, success: true, errors: [], created: false } },
      [`PATCH ${OBJECTS}/Account/Ext__c/77`, written],
      { created: false },
    ],
  ])('%s %j', async (action, inputs, reply, request, more) => {
    const { outcome, asked, origin } = await run(action, { add_fields_and_their_values: values, ...inputs }, [
      reply,
    ])
    const account_url = `${origin}/lightning/r/Account/${ID}/view`
    expect(outcome).toMatchObject({ kind: 'done', outputs: { record_id: ID, account_url, ...more } })
    expect(asked.map(printSeen)).toEqual([request])
  })

  it('an upsert with a reply without content reads the id', async () => {
    const { outcome, asked } = await run('upsert', upsert, [{ status: 204, text: '' }, { json: { Id: ID } }])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { record_id: ID, created: false } })
    expect(asked.map(({ method }) => method)).toEqual(['PATCH', 'GET'])
  })

  it.each<[string, number, unknown, RegExp]>([
    [
      'a duplicate',
      400,
      [
        {
          duplicateResult: { matchResults: ['x'.repeat(500)] },
          message: 'Use one of these records?',
          errorCode: 'DUPLICATES_DETECTED',
        },
      ],
      /Use one of these records\? \(DUPLICATES_DETECTED\)/,
    ],
    [
      'a missing field',
      400,
      [
        {
          message: 'Required fields are missing: [Name]',
          errorCode: 'REQUIRED_FIELD_MISSING',
          fields: ['Name'],
        },
      ],
      /Required fields are missing: \[Name\]/,
    ],
    [
      'an id that is not there',
      404,
      [{ message: 'The requested resource does not exist', errorCode: 'NOT_FOUND' }],
      /does not exist \(NOT_FOUND\)/,
    ],
    [
      'an external id of several',
      300,
      ['/sobjects/Account/1', '/sobjects/Account/2'],
      /several records match: .*Account\/1/,
    ],
    [
      'the limit of the day',
      403,
      [{ message: 'TotalRequests Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }],
      /the key is used up .*Limit exceeded/,
    ],
  ])('%s fails with the words of Salesforce', async (_name, status, json, message) => {
    const { outcome } = await run('upsert', upsert, [{ status, json }])
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) })
  })

  it('a locked record is retried', async () => {
    const json = [{ message: 'unable to obtain exclusive access', errorCode: 'UNABLE_TO_LOCK_ROW' }]
    expect((await run('upsert', upsert, [{ status: 400, json }])).outcome).toMatchObject({ kind: 'retry' })
  })

  it.each<[string, Inputs, RegExp]>([
    ['create', { add_fields_and_their_values: of(['Website', '']) }, /nothing to write/],
    ['create', { add_fields_and_their_values: of(['a b', 'x']) }, /"a b" is not the API name/],
    ['update', { record_id: '../User/1' }, /is not an id of Salesforce/],
    ['upsert', { ...upsert, add_fields_and_their_values: values }, /Ext__c has no value/],
    ['upsert', { ...upsert, record_id: '..' }, /cannot be "\.\."/],
    ['upsert', { ...upsert, salesforce_external_id_field: '../Id' }, /is not the API name/],
  ])('%s %j never leaves', async (action, inputs, message) => {
    const { outcome, asked } = await run(action, { add_fields_and_their_values: values, ...inputs }, [])
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })

  it('pages are on the instance that the connection names', async () => {
    const keys = connectionTo('salesforce', {
      secret: TOKEN,
      instance_url: 'https://acme.my.salesforce.com/',
    })
    const { outcome } = await run('create', { add_fields_and_their_values: values }, [{ json: { id: ID } }], {
      keys,
    })
    const account_url = `https://acme.my.salesforce.com/lightning/r/Account/${ID}/view`
    expect(outcome).toMatchObject({ outputs: { account_url } })
  })

  it('a connection without an instance fails with a message about it', async () => {
    const inputs = { salesforce_object: 'Account', add_fields_and_their_values: values }
    const outcome = await runAction('salesforce_create_record', inputs, {
      row,
      keys: connectionTo('salesforce'),
    })
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/needs --field instance_url=/),
    })
  })

  it("D57: the token's reply names the instance if a connection uses a refresh token", async () => {
    const double: Double = await serveDouble(({ path }) =>
      path === '/services/oauth2/token'
        ? { json: { access_token: 'access-0123456789', instance_url: double.origin } }
        : { status: 201, json: { id: ID } },
    )
    const { egress } = makeAskContext({})
    const settings = {
      row,
      keys: connectionTo('salesforce', REFRESHING),
      egress: {
        ...egress,
        fetch: (request: EgressRequest) =>
          egress.fetch({
            ...request,
            url: request.url.replace('https://login.salesforce.com', double.origin),
          }),
      },
    }
    const inputs = { salesforce_object: 'Account', add_fields_and_their_values: values }
    for (let n = 0; n < 2; n += 1) {
      expect(await runAction('salesforce_create_record', inputs, settings)).toMatchObject({
        kind: 'done',
        outputs: { account_url: `${double.origin}/lightning/r/Account/${ID}/view` },
      })
    }
    expect(double.seen.map(({ path }) => path)).toEqual([
      '/services/oauth2/token',
      `${OBJECTS}/Account`,
      `${OBJECTS}/Account`,
    ])
  })
})
