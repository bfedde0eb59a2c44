import { beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from '#server/catalog/testing/provider-double.ts'
import type { ApiResponse, TestOrg } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain } from '../../../api/testing/chain.ts'
import { connect, makeCrmApp } from '../../../api/testing/crm-account.ts'

const { app, asked, rules } = await makeCrmApp()
const API = '/services/data/v59.0'
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
  await connect(app, org, ['salesforce', 'Main'], { secret: 'salesforce-token' })
  await connect(app, org, ['hubspot', 'Main'], { secret: 'hubspot-token' })
  await connect(app, org, ['hubspot', 'Other'], { secret: 'other-token' })
})

type Question = { action: string; field: string; body?: unknown; inputs?: object; from?: TestOrg }

async function ask(
  { action, field, body = {}, inputs = {}, from = org }: Question,
  reply: Reply,
): Promise<ApiResponse> {
  const chain = await makeChain(app, from)
  const id = await chain.add(action, { inputs })
  asked.length = 0
  rules.answer = () => reply
  return chain.call('POST', `/${id}/options/${field}`, body)
}

const valuesOf = ({ status, body }: ApiResponse): unknown => {
  expect(status).toBe(200)
  return body.data.options.map(({ value }: { value: string }) => value)
}

const DESCRIBED = {
  fields: [
    { name: 'Id', label: 'Record ID', type: 'id', idLookup: true },
    {
      name: 'Name',
      label: 'Account Name',
      type: 'string',
      createable: true,
      updateable: true,
      nillable: false,
    },
    { name: 'Ext__c', label: 'External', type: 'string', createable: true, externalId: true },
    { name: 'CreatedDate', label: 'Created', type: 'datetime' },
  ],
}
const PROPERTIES = {
  results: [
    { name: 'email', label: 'Email', type: 'string', modificationMetadata: { readOnlyValue: false } },
    { name: 'code', label: 'Code', type: 'string', hasUniqueValue: true },
    {
      name: 'hs_object_id',
      label: 'Record ID',
      type: 'number',
      modificationMetadata: { readOnlyValue: true },
    },
    { name: 'score', label: 'Score', type: 'number', calculated: true },
    { name: 'internal', label: 'Internal', type: 'string', hidden: true },
  ],
}

describe('4.5 dropdowns of CRMs are resolved from the connection', () => {
  it('objects of Salesforce', async () => {
    const sobjects = [
      { name: 'Deal__c', label: 'Deal', queryable: true, custom: true },
      { name: 'Account', label: 'Account', queryable: true, custom: false },
      { name: 'Hidden', label: 'Hidden', queryable: false },
      { name: 'Old', label: 'Old', deprecatedAndHidden: true },
    ]
    const question = { action: 'salesforce_create_record', field: 'salesforce_object' }
    const { body } = await ask(question, { json: { sobjects } })
    expect(body.data.options).toEqual([
      { value: 'Account', label: 'Account', extras: { custom: false } },
      { value: 'Deal__c', label: 'Deal', extras: { custom: true } },
    ])
    expect(asked).toMatchObject([{ at: `GET ${API}/sobjects`, authorization: 'Bearer salesforce-token' }])
  })

  it.each([
    ['salesforce_lookup_record', 'add_fields_and_their_values', ['Name', 'CreatedDate', 'Ext__c', 'Id']],
    ['salesforce_update_record', 'add_fields_and_their_values', ['Name', 'Ext__c']],
    ['salesforce_upsert_record', 'salesforce_external_id_field', ['Ext__c', 'Id']],
  ])('fields of an object for %s.%s', async (action, field, values) => {
    const body = { context: { salesforce_object: 'Account' } }
    expect(valuesOf(await ask({ action, field, body }, { json: DESCRIBED }))).toEqual(values)
    expect(asked.map(({ at }) => at)).toEqual([`GET ${API}/sobjects/Account/describe`])
  })

  it('a field says of what type it is, and whether it must be there', async () => {
    const question = { action: 'salesforce_create_record', field: 'add_fields_and_their_values' }
    const { body } = await ask(
      { ...question, body: { context: { salesforce_object: 'Account' } } },
      { json: DESCRIBED },
    )
    expect(body.data.options[0]).toEqual({
      value: 'Name',
      label: 'Account Name',
      extras: { type: 'string', required: true, external_id: false },
    })
  })

  it('types of HubSpot objects: the standard ones, then custom ones where the account has them', async () => {
    const question = { action: 'hubspot_create_object', field: 'object_type' }
    const results = [{ objectTypeId: '2-123', name: 'pets', labels: { plural: 'Pets' } }]
    const all = valuesOf(await ask(question, { json: { results } }))
    expect(all).toEqual(expect.arrayContaining(['contacts', 'companies', 'deals', '2-123']))
    const some = valuesOf(await ask(question, { status: 403, json: { message: 'missing scopes' } }))
    expect(some).toEqual(expect.not.arrayContaining(['2-123']))
    expect(some).toContain('contacts')
  })

  it.each([
    ['hubspot_lookup_object', 'properties', ['code', 'email', 'hs_object_id', 'score']],
    ['hubspot_create_object', 'properties', ['code', 'email']],
    ['hubspot_upsert_object', 'id_property', ['code', 'email', 'hs_object_id']],
  ])('properties of a type for %s.%s', async (action, field, values) => {
    const body = { context: { object_type: 'contacts' } }
    expect(valuesOf(await ask({ action, field, body }, { json: PROPERTIES }))).toEqual(values)
    expect(asked.map(({ at }) => at)).toEqual(['GET /crm/v3/properties/contacts'])
  })

  it.each<[object, object, string]>([
    [{ connection: 'Other' }, {}, 'Bearer other-token'],
    [{ connection: '{{input.email}}' }, {}, 'Bearer hubspot-token'],
    [{ connection: 'Other' }, { connection: 'main' }, 'Bearer hubspot-token'],
  ])('the connection is that of the action %j or of the context %j', async (inputs, more, authorization) => {
    const body = { context: { object_type: 'contacts', ...more } }
    const question = { action: 'hubspot_create_object', field: 'properties', body, inputs }
    expect((await ask(question, { json: PROPERTIES })).status).toBe(200)
    expect(asked).toMatchObject([{ authorization }])
  })
})

describe('4.5 a missing or invalid context is 400', () => {
  const question = { action: 'salesforce_create_record', field: 'add_fields_and_their_values' }

  it.each<[unknown, string[]]>([
    [{}, ['context.salesforce_object']],
    [{ context: { object_type: 'Account' } }, ['context.salesforce_object']],
    [{ context: { salesforce_object: 5 } }, ['context.salesforce_object']],
    [{ context: { salesforce_object: '../limits' } }, ['context.salesforce_object']],
    [{ context: { salesforce_object: 'Account/x?y' } }, ['context.salesforce_object']],
    [{ context: 'Account' }, ['context']],
  ])('%j, which is never sent', async (body, fields) => {
    const inputs = { salesforce_object: 'Account' }
    expect(fieldsOf(await ask({ ...question, body, inputs }, { json: DESCRIBED }))).toEqual(fields)
    expect(asked).toEqual([])
  })

  it('an object that is not there', async () => {
    const json = [{ message: 'The requested resource does not exist', errorCode: 'NOT_FOUND' }]
    const body = { context: { salesforce_object: 'Nothing__c' } }
    const { status, body: answer } = await ask({ ...question, body }, { status: 404, json })
    expect([status, answer.errors]).toEqual([
      400,
      [
        {
          field: 'context.salesforce_object',
          message: expect.stringMatching(/^Salesforce: .*does not exist/),
        },
      ],
    ])
  })
})

describe('D57: a provider that fails is a 400 with its reason', () => {
  const question = {
    action: 'hubspot_create_object',
    field: 'properties',
    body: { context: { object_type: 'deals' } },
  }

  it.each<[string, Reply, RegExp]>([
    [
      'a bad key',
      { status: 401, json: { message: 'no hubspot-token' } },
      /^HubSpot: the key was refused \(HTTP 401\)/,
    ],
    ['5xx', { status: 503, text: 'down' }, /^HubSpot: HTTP 503: down/],
    ['no JSON', { text: '<html>' }, /not valid JSON/],
    ['another shape', { json: { results: 5 } }, /expected shape/],
  ])('%s', async (_name, reply, message) => {
    const { status, body } = await ask(question, reply)
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'connection', message: expect.stringMatching(message) }],
    ])
    expect(JSON.stringify(body)).not.toContain('hubspot-token')
  })

  it('its own limit is 429', async () => {
    const { status, body, headers } = await ask(question, { status: 429, headers: { 'retry-after': '7' } })
    expect([status, body.retryAfter, headers['retry-after']]).toEqual([429, 7, '7'])
  })

  it('nothing is asked where there is no connection', async () => {
    const from = await app.makeOrg()
    const none = await ask({ ...question, from }, { json: PROPERTIES })
    expect(fieldsOf(none)).toEqual(['connection'])
    expect(none.body.errors[0].message).toMatch(/loam connection add --provider hubspot/)
    const wrong = await ask({ ...question, inputs: { connection: 'Nobody' } }, { json: PROPERTIES })
    expect(wrong.body.errors[0].message).toMatch(/by the name "Nobody"/)
    expect(asked).toEqual([])
  })
})
