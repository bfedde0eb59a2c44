import { describe, expect, it } from 'vitest'
import { connectionTo, printSeen, REFRESHING, runAt } from '../testing/crm.ts'
import type { Reply, Seen } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const HASH = 'a'.repeat(40)

type Inputs = Record<string, unknown>
const values = (...pairs: [string, unknown][]) => pairs.map(([name, value]) => ({ name, value }))
const PERSON = {
  object: 'persons',
  match_field: 'email',
  values: values(['name', 'Ann Lee'], ['email', 'ann@acme.example'], ['org_id', '5'], [HASH, 'gold']),
}
const run = (inputs: Inputs, answer: (seen: Seen, place: number) => Reply, settings = {}) =>
  runAt(runAction, ['pipedrive_upsert', inputs], answer, settings)
const found = (...items: object[]): Reply => ({ json: { data: { items: items.map((item) => ({ item })) } } })

describe('pipedrive_upsert', () => {
  it('creates a record if the search finds none, with custom fields apart', async () => {
    const { outcome, asked } = await run(PERSON, ({ method }) =>
      method === 'GET' ? found() : { status: 201, json: { data: { id: 9 } } },
    )
    expect(asked.map(printSeen)).toEqual([
      [
        'GET /api/v2/persons/search?term=ann%40acme.example&fields=email&exact_match=true&limit=50',
        undefined,
      ],
      [
        'POST /api/v2/persons',
        {
          name: 'Ann Lee',
          emails: [{ value: 'ann@acme.example', primary: true, label: 'work' }],
          org_id: 5,
          custom_fields: { [HASH]: 'gold' },
        },
      ],
    ])
    expect(asked[0]?.headers).toMatchObject({ 'x-api-token': 'crm-token-0123456789' })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { record_id: '9', url: 'https://app.pipedrive.com/person/9', created: true },
    })
  })

  it('updates the record that is found, and keeps the entries of its lists', async () => {
    const inputs = { ...PERSON, values: values(['email', 'ann@acme.example'], ['phone', '+491']) }
    const { outcome, asked } = await run(inputs, ({ method }) =>
      method === 'GET'
        ? found(
            { id: 3, emails: ['other@acme.example'] },
            { id: 4, emails: ['ANN@acme.example'], phones: ['+490'] },
          )
        : { json: { data: { id: 4 } } },
    )
    expect(asked.map(printSeen)[1]).toEqual([
      'PATCH /api/v2/persons/4',
      {
        phones: [
          { value: '+491', primary: true, label: 'work' },
          { value: '+490', primary: false, label: 'work' },
        ],
      },
    ])
    expect(outcome).toMatchObject({ outputs: { record_id: '4', created: false } })
  })

  it('searches by a custom field and reads the records that are found', async () => {
    const inputs = { object: 'deals', match_field: HASH, values: values([HASH, 'K-1'], ['title', 'Big']) }
    const { outcome, asked } = await run(inputs, ({ path, method }) => {
      if (path.endsWith('/search')) return found({ id: 1 }, { id: 2 })
      if (method === 'PATCH') return { json: { data: { id: 2 } } }
      return {
        json: {
          data: [
            { id: 1, custom_fields: { b: 'K-1' } },
            { id: 2, custom_fields: { [HASH]: 'K-1' } },
          ],
        },
      }
    })
    expect(asked.map((seen) => printSeen(seen)[0])).toEqual([
      'GET /api/v2/deals/search?term=K-1&fields=custom_fields&exact_match=true&limit=50',
      'GET /api/v2/deals?ids=1%2C2',
      'PATCH /api/v2/deals/2',
    ])
    expect(outcome).toMatchObject({ outputs: { record_id: '2', url: 'https://app.pipedrive.com/deal/2' } })
  })

  it('several matches fail because no single record is meant', async () => {
    const { outcome } = await run(PERSON, () =>
      found({ id: 1, emails: ['ann@acme.example'] }, { id: 2, emails: ['ann@acme.example'] }),
    )
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/2 persons have the email/),
    })
  })

  it('makes tokens by HTTP Basic, and continues at the address that comes with them', async () => {
    const fields = { ...REFRESHING }
    const { outcome, asked, origin } = await run(
      PERSON,
      ({ path, method }) => {
        if (path === '/oauth/token') {
          return { json: { access_token: 'access-1-0123456789', api_domain: 'https://acme.pipedrive.com' } }
        }
        return method === 'GET' ? found() : { json: { data: { id: 9 } } }
      },
      { keys: connectionTo('pipedrive', fields) },
    )
    const basic = Buffer.from(`${fields.client_id}:${fields.client_secret}`).toString('base64')
    expect(asked[0]).toMatchObject({ path: '/oauth/token', headers: { authorization: `Basic ${basic}` } })
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: fields.refresh_token,
    })
    // The server that replaces Pipedrive is still called; the page is on the account's address.
    expect(origin).toContain('127.0.0.1')
    expect(asked.slice(1).map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 2 }, () => 'Bearer access-1-0123456789'),
    )
    expect(outcome).toMatchObject({ outputs: { url: 'https://acme.pipedrive.com/person/9' } })
  })

  it.each<[Inputs, RegExp]>([
    [{ match_field: 'city' }, /must be one of: email, phone, name/],
    [{ values: values(['name', 'Ann']) }, /email has no value/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run({ ...PERSON, ...wrong }, () => ({}))
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})
