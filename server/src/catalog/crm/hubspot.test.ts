import { describe, expect, it } from 'vitest'
import { connectionTo, printSeen, runAt } from '../testing/crm.ts'
import { serveDouble } from '../testing/provider-double.ts'
import type { Reply } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const CONTACTS = '/crm/v3/objects/contacts'
const row = { input: { email: 'ann@acme.example', size: 12, none: null, tags: ['a', 'b'], id: '77' } }
const PAGE = 'https://app-eu1.hubspot.com/contacts/42/record/0-1/501'

type Inputs = Record<string, unknown>
const of = (...pairs: [string, unknown][]) => pairs.map(([name, value]) => ({ name, value }))

const run = (action: string, inputs: Inputs, replies: Reply[]) =>
  runAt(
    runAction,
    [`hubspot_${action}_object`, { object_type: 'contacts', ...inputs }],
    (_seen, place) => replies[Math.min(place, replies.length - 1)] ?? {},
    { row },
  )

describe('hubspot_lookup_object', () => {
  const properties = of(
    ['email', '{{input.email}}'],
    ['company', '{{input.none}}'],
    ['size', '{{input.size}}'],
  )
  const email = { propertyName: 'email', operator: 'EQ', value: 'ann@acme.example' }
  const size = { propertyName: 'size', operator: 'EQ', value: '12' }
  const empty = { propertyName: 'company', operator: 'NOT_HAS_PROPERTY' }

  it('finds records by their properties', async () => {
    const results = [{ id: '501', properties: { email: 'ann@acme.example', firstname: null } }]
    const { outcome, asked } = await run('lookup', { properties, properties_to_return: ['score'] }, [
      { json: { total: 1, results } },
    ])
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        records_found: [{ id: '501', email: 'ann@acme.example', firstname: null }],
        record_id: '501',
        account_url: PAGE,
      },
    })
    expect(asked.map(printSeen)).toMatchObject([
      [`POST ${CONTACTS}/search`, { filterGroups: [{ filters: [email, size] }], limit: 10 }],
    ])
    const body: { properties: string[] } = JSON.parse(asked[0]?.body ?? '')
    expect(body.properties.filter((name) => ['email', 'score', 'lastname'].includes(name))).toHaveLength(3)
  })

  it.each<[Inputs, unknown]>([
    [{ search_operator: 'OR' }, [{ filters: [email] }, { filters: [size] }]],
    [{ ignore_empty_values: false }, [{ filters: [email, empty, size] }]],
    [{ id_property: 'email', exact_match: false }, [{ filters: [email] }]],
    [
      { exact_match: false },
      [
        {
          filters: [
            { ...email, operator: 'CONTAINS_TOKEN', value: '*ann@acme.example*' },
            { ...size, operator: 'CONTAINS_TOKEN', value: '*12*' },
          ],
        },
      ],
    ],
  ])('%j', async (inputs, filterGroups) => {
    const { asked } = await run('lookup', { properties, ...inputs }, [{ json: { total: 0, results: [] } }])
    expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({ filterGroups })
  })

  it('a search without hits is an answer with an empty list', async () => {
    const { outcome } = await run('lookup', { properties }, [{ json: { total: 0, results: [] } }])
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { records_found: [], record_id: null, account_url: null },
    })
  })
})

describe('hubspot writes', () => {
  const properties = of(
    ['email', '{{input.email}}'],
    ['size', '{{input.size}}'],
    ['tags', '{{input.tags}}'],
    ['city', ''],
  )
  const written = { email: 'ann@acme.example', size: '12', tags: 'a;b' }
  const { email: _email, ...withoutEmail } = written
  const record = { id: '501', properties: {} }
  const batch = (more: object) => ({ status: 'COMPLETE', results: [{ ...record, ...more }] })
  const input = { idProperty: 'size', id: '12', properties: written }

  it.each<[string, Inputs, Reply, [string, unknown], object]>([
    ['create', {}, { status: 201, json: record }, [`POST ${CONTACTS}`, { properties: written }], {}],
    [
      'create',
      { ignore_empty_values: false },
      { status: 201, json: record },
      [`POST ${CONTACTS}`, { properties: { ...written, city: '' } }],
      {},
    ],
    [
      'update',
      { record_id: '{{input.id}}' },
      { json: record },
      [`PATCH ${CONTACTS}/77`, { properties: written }],
      {},
    ],
    [
      'update',
      { id_property: 'email' },
      { json: record },
      [`PATCH ${CONTACTS}/ann%40acme.example?idProperty=email`, { properties: withoutEmail }],
      {},
    ],
    [
      'update',
      { properties: [...properties, ...of(['hs_object_id', '77'])] },
      { json: record },
      [`PATCH ${CONTACTS}/77`, { properties: written }],
      {},
    ],
    [
      'upsert',
      { id_property: 'size' },
      { status: 201, json: batch({ new: true }) },
      [`POST ${CONTACTS}/batch/upsert`, { inputs: [input] }],
      { created: true },
    ],
    [
      'upsert',
      { id_property: 'size' },
      { json: batch({ new: false }) },
      [`POST ${CONTACTS}/batch/upsert`, { inputs: [input] }],
      { created: false },
    ],
    [
      'upsert',
      {},
      { json: record },
      [`PATCH ${CONTACTS}/ann%40acme.example?idProperty=email`, { properties: withoutEmail }],
      { created: false },
    ],
  ])('%s %j', async (action, inputs, reply, request, more) => {
    const { outcome, asked } = await run(action, { properties, ...inputs }, [reply])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { record_id: '501', account_url: PAGE, ...more } })
    expect(asked.map(printSeen)).toEqual([request])
  })

  const refused = {
    status: 400,
    json: {
      status: 'error',
      category: 'VALIDATION_ERROR',
      message: 'Unable to perform update/upsert by non-unique 0-2 property',
    },
  }
  const upsert = (...replies: Reply[]) =>
    run('upsert', { id_property: 'size', properties }, [refused, ...replies])

  it('a property that is not unique is searched for: one record is written, and created if there is none', async () => {
    const known = await upsert({ json: { total: 1, results: [{ id: '9' }] } }, { json: record })
    expect(known.outcome).toMatchObject({ kind: 'done', outputs: { record_id: '501', created: false } })
    expect(known.asked.map((seen) => printSeen(seen)[0])).toEqual([
      `POST ${CONTACTS}/batch/upsert`,
      `POST ${CONTACTS}/search`,
      `PATCH ${CONTACTS}/9`,
    ])
    const fresh = await upsert({ json: { total: 0, results: [] } }, { status: 201, json: record })
    expect(fresh.outcome).toMatchObject({ kind: 'done', outputs: { created: true } })
    expect(fresh.asked.map(printSeen).at(-1)).toEqual([`POST ${CONTACTS}`, { properties: written }])
  })

  it('a contact is upserted by email with an update, and created if there is none', async () => {
    const missing = { status: 404, json: { message: 'resource not found' } }
    const { outcome, asked } = await run('upsert', { id_property: 'email', properties }, [
      missing,
      { status: 201, json: record },
    ])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { record_id: '501', created: true } })
    expect(asked.map(printSeen)).toEqual([
      [`PATCH ${CONTACTS}/ann%40acme.example?idProperty=email`, { properties: withoutEmail }],
      [`POST ${CONTACTS}`, { properties: written }],
    ])
    const wrong = await run('upsert', { id_property: 'email', properties }, [refused])
    expect(wrong.outcome).toMatchObject({ kind: 'failed' })
    expect(wrong.asked).toHaveLength(1)
  })

  it('several matches fail because no single record is meant', async () => {
    const { outcome, asked } = await upsert({ json: { total: 3, results: [{ id: '9' }, { id: '10' }] } })
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/3 records have the size/),
    })
    expect(asked).toHaveLength(2)
  })

  it.each<[string, string, Reply, RegExp]>([
    [
      'a duplicate',
      'create',
      { status: 409, json: { message: 'Contact already exists. Existing ID: 501' } },
      /already exists\. Existing ID: 501/,
    ],
    [
      'a wrong value',
      'create',
      refused,
      /HubSpot: it does not accept this request \(HTTP 400\): Unable to perform/,
    ],
    [
      'a record that is not there',
      'update',
      { status: 404, json: { message: 'resource not found' } },
      /resource not found/,
    ],
    [
      'an error inside a 207',
      'upsert',
      { status: 207, json: { status: 'COMPLETE', results: [], errors: [{ message: 'bad email' }] } },
      /^HubSpot: bad email$/,
    ],
    [
      'the limit of the day',
      'create',
      { status: 429, json: { policyName: 'DAILY', message: 'daily limit' }, headers: { 'retry-after': '3' } },
      /the key is used up .*daily limit/,
    ],
  ])('%s fails with the words of HubSpot', async (_name, action, reply, message) => {
    const identity: Record<string, Inputs> = { update: { record_id: '1' }, upsert: { id_property: 'size' } }
    const { outcome } = await run(action, { properties, ...identity[action] }, [reply])
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) })
  })

  it.each<[string, Inputs, RegExp]>([
    ['create', { object_type: 'contacts/../owners' }, /object_type/],
    ['create', { properties: of(['city', '']) }, /nothing to write/],
    ['update', {}, /neither record_id nor hs_object_id/],
    ['update', { record_id: '..' }, /cannot be/],
    ['upsert', { id_property: 'city' }, /city has no value/],
    ['lookup', { properties: of(['city', '']) }, /nothing to look for/],
    ['lookup', { id_property: 'city' }, /city has no value/],
  ])('%s %j never leaves', async (action, inputs, message) => {
    const { outcome, asked } = await run(action, { properties, ...inputs }, [])
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })

  it('the account of a connection is read once; an account that cannot be read costs only the link', async () => {
    const double = await serveDouble(({ path }) =>
      path === CONTACTS ? { status: 201, json: record } : { status: 403, json: { message: 'scopes' } },
    )
    const settings = { row, urls: { hubspot: double.origin }, keys: connectionTo('hubspot') }
    const inputs = { object_type: 'contacts', properties }
    for (let n = 0; n < 2; n += 1) {
      const outcome = await runAction('hubspot_create_object', inputs, settings)
      expect(outcome).toMatchObject({ kind: 'done', outputs: { record_id: '501', account_url: null } })
    }
    expect(double.seen.map(({ path }) => path)).toEqual(['/account-info/v3/details', CONTACTS, CONTACTS])
  })

  it('a page that HubSpot returns itself is used', async () => {
    const url = 'https://app.hubspot.com/contacts/7/record/0-1/501'
    const { outcome } = await run('create', { properties }, [{ status: 201, json: { ...record, url } }])
    expect(outcome).toMatchObject({ outputs: { account_url: url } })
  })
})
