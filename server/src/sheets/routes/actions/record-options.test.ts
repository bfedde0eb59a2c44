import { beforeAll, describe, expect, it } from 'vitest'
import { airtable } from '#server/catalog/providers/airtable/provider.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { recordsOf } from '#server/records/testing/records.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain, type TestChain } from '../../../api/testing/chain.ts'
import { hasOptions } from './action-options.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)
let org: TestOrg
let chain: TestChain
beforeAll(async () => {
  const other = await app.makeOrg()
  org = await app.makeOrg()
  chain = await makeChain(app, org)
  const company = [{ kind: 'domain' as const, value: 'acme.com' }]
  for (const { orgId, prefix } of [
    { orgId: other.orgId, prefix: 'foreign ' },
    { orgId: org.orgId, prefix: '' },
  ]) {
    await ingest(
      orgId,
      prefix === '' ? 'hubspot' : 'foreign',
      {
        kind: 'company',
        identifiers: company,
        fields: { [`${prefix}size`]: 5, [`${prefix}name`]: 'Acme' },
        events: [{ type: `${prefix}funded`, at: '2026-01-01T00:00:00Z' }],
      },
      {
        kind: 'person',
        identifiers: [{ kind: 'email', value: 'ann@acme.com' }],
        fields: { [`${prefix}title`]: 'CTO' },
        relationships: [{ type: `${prefix}works_at`, to: { kind: 'company', identifiers: company } }],
        events: [{ type: `${prefix}promoted`, at: '2026-01-01T00:00:00Z' }],
      },
    )
  }
})

const optionsOf = async (action: string, field: string, context: unknown = {}): Promise<Json> =>
  chain.call('POST', `/${await chain.add(action)}/options/${field}`, { context })
const words = ({ body }: Json) => body.data.options.map(({ value }: { value: string }) => value)

const COMPANY = [
  'name',
  'domain',
  'linkedin_url',
  'industry',
  'employees',
  'country',
  'city',
  'phone',
  'description',
]
const PERSON = ['full_name', 'first_name', 'last_name', 'email', 'linkedin_url', 'title', 'country']
const CONTACT = ['email', 'phone', 'company_domain', 'title']
const RELATIONSHIPS = ['works_at', 'reports_to', 'founded', 'subsidiary_of', 'partner_of', 'customer_of']

describe('D98: options on a fresh installation', () => {
  it.each([
    ['records_ingest', 'source', ['loam', 'csv', 'crm']],
    ['records_update', 'company_fields_to_set', COMPANY],
    ['records_update', 'person_fields_to_set', PERSON],
    ['records_update', 'contact_fields_to_set', CONTACT],
    ['records_relationship', 'relationship_type', RELATIONSHIPS],
  ])('%s offers %s', async (action, field, expected) => {
    const fresh = await makeChain(app, await app.makeOrg())
    const id = await fresh.add(action)
    expect(words(await fresh.call('POST', `/${id}/options/${field}`, {}))).toEqual(expected)
  })

  it('source offers the systems that are connected, and takes any other name', async () => {
    const owner = await app.makeOrg()
    const fresh = await makeChain(app, owner)
    const connection = {
      orgId: owner.orgId,
      provider: airtable,
      name: 'ours',
      ownerId: null,
      shared: true,
      fields: Object.fromEntries((airtable.fields.sets[0] ?? []).map((name) => [name, 'x'])),
    }
    await addConnection(app.store.system, app.services.sealer, OPERATOR, connection)
    const id = await fresh.add('records_ingest', { inputs: { source: 'our_erp' } })
    expect(words(await fresh.call('POST', `/${id}/options/source`, {}))).toEqual([
      'loam',
      'csv',
      'crm',
      'airtable',
    ])
  })

  it(
    'every dropdown of the catalogue offers something or says why it does not',
    { timeout: 60_000 },
    async () => {
      const fresh = await makeChain(app, await app.makeOrg())
      const silent: string[] = []
      let asked = 0
      for (const action of app.services.catalogue.list()) {
        const offering = Object.entries(action.inputs).filter(([, field]) => hasOptions(field))
        if (offering.length === 0) continue
        const id = await fresh.add(action.id)
        for (const [name, { options }] of offering) {
          const needs = options !== undefined && 'from' in options ? (options.needs ?? []) : []
          const context = Object.fromEntries(
            needs.map((key) => [key, key === 'lookup_type' ? 'company' : 'Account']),
          )
          const { status, body } = await fresh.call('POST', `/${id}/options/${name}`, { context })
          asked += 1
          const says =
            status === 200
              ? (body.data.options[0]?.value ?? body.warnings?.[0]?.message)
              : body.errors?.[0]?.message
          if (typeof says !== 'string' || says === '')
            silent.push(`${action.id}.${name}: ${status} ${JSON.stringify(body)}`)
        }
        await fresh.call('DELETE', `/${id}`)
      }
      expect(silent).toEqual([])
      expect(asked).toBeGreaterThan(50)
    },
  )
})

describe('4.5 Get Action Field Options of record-store actions', () => {
  it.each<[action: string, field: string, context: unknown, expected: string[]]>([
    ['records_ingest', 'source', {}, ['loam', 'csv', 'crm', 'hubspot']],
    ['records_ingest', 'entity_kind', {}, ['company', 'person', 'contact']],
    ['records_lookup', 'lookup_type', {}, ['company', 'person', 'contact']],
    ['records_lookup', 'events', { lookup_type: 'entity' }, ['funded']],
    ['records_lookup', 'events', { lookup_type: 'company' }, ['funded']],
    ['records_lookup', 'events', { lookup_type: 'person' }, ['promoted']],
    ['records_lookup', 'events', { lookup_type: 'contact' }, []],
    ['records_update', 'scope', {}, ['company', 'person', 'contact']],
    ['records_update', 'company_fields_to_set', {}, [...COMPANY, 'size']],
    ['records_update', 'person_fields_to_set', {}, PERSON],
    ['records_update', 'contact_fields_to_set', {}, CONTACT],
    ['records_relationship', 'operation', {}, ['add', 'remove']],
    ['records_relationship', 'relationship_type', {}, RELATIONSHIPS],
  ])('%s exposes %s with context %j: %j', async (action, field, context, expected) => {
    expect(words(await optionsOf(action, field, context))).toEqual(expected)
  })

  it('relationship_target names the kind that a relationship leads to, or both', async () => {
    const offered = words(await optionsOf('records_relationship', 'relationship_target'))
    expect(offered).toHaveLength(12)
    expect(offered).toEqual(expect.arrayContaining(['company', 'person_to_company', 'contact_to_person']))
  })

  it('fields say their type', async () => {
    const { body } = await optionsOf('records_update', 'company_fields_to_set')
    expect(body.data.options.at(-1)).toEqual({ value: 'size', label: 'size', extras: { type: 'number' } })
  })

  it.each([{}, { lookup_type: '' }, { lookup_type: 'dog' }, { lookup_type: 5 }, { scope: 'person' }])(
    'a missing or invalid context type returns 400 rather than a default: %j',
    async (context) => {
      const answer = await optionsOf('records_lookup', 'events', context)
      expect([answer.status, fieldsOf(answer)]).toEqual([400, ['context.lookup_type']])
    },
  )
})

describe('configuring record-store actions', () => {
  const add = (action_id: string, inputs: object) => chain.call('POST', '/add', { action_id, inputs })

  it.each<[string, object, string]>([
    ['records_ingest', { source: 'Hub Spot!' }, 'inputs.source'],
    ['records_ingest', { entity_kind: 'dog' }, 'inputs.entity_kind'],
    ['records_ingest', { identifiers: [{ name: 'phone', value: '1' }] }, 'inputs.identifiers[0].name'],
    ['records_ingest', { identifiers: [{ value: '1' }] }, 'inputs.identifiers[0]'],
    ['records_ingest', { identifiers: 'acme.com' }, 'inputs.identifiers'],
    ['records_ingest', { fields: [{ name: 'a', value: '1', type: 'int' }] }, 'inputs.fields[0].type'],
    ['records_lookup', { lookup_type: 'dog' }, 'inputs.lookup_type'],
    ['records_lookup', { limit: '0' }, 'inputs.limit'],
    ['records_update', { scope: 'entity' }, 'inputs.scope'],
    ['records_relationship', { operation: 'drop' }, 'inputs.operation'],
    ['records_relationship', { relationship_target: 'dog' }, 'inputs.relationship_target'],
  ])('%s refuses %j, naming the field', async (action, inputs, field) => {
    const answer = await add(action, inputs)
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [field]])
  })

  it('items may also be {key, value}, {kind, value} or one object (D76)', async () => {
    for (const identifiers of [
      [{ key: 'domain', value: 'x' }],
      [{ kind: 'domain', value: 'x' }],
      { domain: 'x' },
    ]) {
      const id = await chain.add('records_ingest', { inputs: { identifiers } })
      const { actions } = await chain.definition()
      expect(actions.find((action) => action.id === id)?.inputs['identifiers']).toEqual([
        { name: 'domain', value: 'x', label: 'domain' },
      ])
    }
  })

  it('warns which fields the scope needs', async () => {
    const inputs = { identifier: '{{input.email}}', person_fields_to_set: [{ name: 'title', value: 'x' }] }
    const warnings = async (scope: string) =>
      (await add('records_update', { ...inputs, scope })).body.warnings
    expect(await warnings('company')).toEqual([
      {
        field: 'inputs.company_fields_to_set',
        code: 'required_field_missing',
        message: 'this field is required',
        text: 'Add company fields',
      },
    ])
    expect((await warnings('person')) ?? []).toEqual([])
  })

  it('Get Action Outputs of the ingest has a boolean accepted', async () => {
    const { body } = await chain.call('GET', `/${await chain.add('records_ingest')}/outputs`)
    const types = body.data.outputs ?? body.data
    expect(types).toContainEqual(expect.objectContaining({ name: 'accepted', type: 'boolean' }))
  })
})
