import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const AT = '2026-01-01T00:00:00.000+0000'
const contact = (Id: string, SystemModstamp = AT) => ({
  attributes: { type: 'Contact', url: `/services/data/v59.0/sobjects/Contact/${Id}` },
  Id,
  SystemModstamp,
  Email: `${Id}@acme.example`,
  Account: { attributes: { type: 'Account' }, Name: 'Acme' },
})
const BODY = { object: 'Contact', fields: ['Email', 'Account.Name'] }
const CURSOR = '/services/data/v59.0/query/01g000-500'

async function pullFrom(
  answer: (seen: Seen, place: number) => Reply,
  body: Record<string, unknown> = BODY,
  state?: unknown,
) {
  const { origin, seen } = await serveDouble(answer)
  const settings = { urls: { salesforce: origin }, ...(state === undefined ? {} : { state }) }
  return { seen, pulled: await pullSource('import_from_salesforce', body, settings) }
}

describe('import_from_salesforce', () => {
  it('queries the fields by last change and follows nextRecordsUrl', async () => {
    const { seen, pulled } = await pullFrom(({ path }) =>
      path === CURSOR
        ? { json: { totalSize: 3, done: true, records: [contact('003C')] } }
        : {
            json: {
              totalSize: 3,
              done: false,
              nextRecordsUrl: CURSOR,
              records: [contact('003A'), contact('003B')],
            },
          },
    )
    expect(seen.map(({ path, query }) => [path, query['q']])).toEqual([
      [
        '/services/data/v59.0/query',
        'SELECT Id, SystemModstamp, Email, Account.Name FROM Contact ORDER BY SystemModstamp, Id',
      ],
      [CURSOR, undefined],
    ])
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer a-key',
      'sforce-query-options': 'batchSize=500',
    })
    expect(pulled).toMatchObject({ keys: ['003A', '003B', '003C'], total: 3 })
    expect(pulled.rows[0]).toEqual({ id: '003A', Email: '003A@acme.example', 'Account.Name': 'Acme' })
    expect(pulled.resume).toEqual({ after: { at: '2025-12-31T23:55:00.000Z', id: null }, cursor: null })
  })

  it('continues after the last record if the cursor has expired, also among equal timestamps', async () => {
    const { seen, pulled } = await pullFrom(({ path, query }) => {
      if (path === CURSOR) {
        return {
          status: 400,
          json: [{ errorCode: 'INVALID_QUERY_LOCATOR', message: 'invalid query locator' }],
        }
      }
      return query['q']?.includes('WHERE') === true
        ? { json: { done: true, records: [contact('003B')] } }
        : { json: { done: false, nextRecordsUrl: CURSOR, records: [contact('003A')] } }
    })
    expect(seen[2]?.query['q']).toContain(
      "WHERE (SystemModstamp > 2026-01-01T00:00:00.000Z OR (SystemModstamp = 2026-01-01T00:00:00.000Z AND Id > '003A')) ORDER",
    )
    expect(pulled).toMatchObject({ keys: ['003A', '003B'], refusal: null })
  })

  it('on a schedule reads what changed since, and keeps its position while nothing changes', async () => {
    const state = { after: { at: '2026-01-01T00:00:00.000Z', id: null }, cursor: null }
    const { seen, pulled } = await pullFrom(() => ({ json: { done: true, records: [] } }), BODY, state)
    expect(seen[0]?.query['q']).toContain(' WHERE SystemModstamp >= 2026-01-01T00:00:00.000Z ORDER BY')
    expect(pulled.resume).toMatchObject({ after: { at: '2026-01-01T00:00:00.000Z' } })
  })

  it('escapes the values of filters', async () => {
    const filters = [
      { field: 'Name', operator: 'is equal to', values: ["O'Hara\\' OR Name != '"] },
      { field: 'City', operator: 'contains', values: ['50%_'] },
      { field: 'Size__c', operator: 'greater than', values: [5] },
      { field: 'Tier', operator: 'is any of', values: ['a', 'b'] },
      { field: 'Phone', operator: 'not empty' },
    ]
    const { seen } = await pullFrom(() => ({ json: { done: true, records: [] } }), { ...BODY, filters })
    expect(seen[0]?.query['q']).toContain(
      " WHERE (Name = 'O\\'Hara\\\\\\' OR Name != \\'') AND (City LIKE '%50\\%\\_%') AND (Size__c > 5)" +
        " AND (Tier = 'a' OR Tier = 'b') AND (Phone != null) ORDER BY",
    )
  })

  it('sends a value without quotes if Salesforce says that its field is not text', async () => {
    const filters = [{ field: 'CreatedDate', operator: 'greater than', values: ['2026-01-01T00:00:00Z'] }]
    const { seen, pulled } = await pullFrom(
      (_seen, place) =>
        place === 0
          ? {
              status: 400,
              json: [
                {
                  errorCode: 'INVALID_FIELD',
                  message:
                    "value of filter criterion for field 'CreatedDate' must be of type dateTime and should not be enclosed in quotes",
                },
              ],
            }
          : { json: { done: true, records: [contact('003A')] } },
      { ...BODY, filters },
    )
    expect(seen.map(({ query }) => /\((.*)\)/.exec(query['q'] ?? '')?.[1])).toEqual([
      "CreatedDate > '2026-01-01T00:00:00Z'",
      'CreatedDate > 2026-01-01T00:00:00Z',
    ])
    expect(pulled.keys).toEqual(['003A'])
  })

  it.each([
    [
      { status: 401, json: [{ errorCode: 'INVALID_SESSION_ID', message: 'expired' }] },
      { kind: 'unconfigured' },
    ],
    [{ status: 403, json: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'x' }] }, { kind: 'no_credits' }],
    [{ status: 400, json: [{ errorCode: 'INVALID_TYPE', message: 'no Contact' }] }, { kind: 'ineligible' }],
    [{ json: { done: true, records: [{ Name: 'without an id' }] } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    expect((await pullFrom(() => reply)).pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{ object: 'Contact' }, 'fields', 'required'],
    [{ ...BODY, object: 'Contact; DELETE' }, 'object', 'must be the API name of an object'],
    [{ ...BODY, fields: ['Id FROM Lead'] }, 'fields[0]', 'must be the API name of a field'],
    [
      { ...BODY, filters: [{ field: '1=1', operator: 'is equal to', values: ['x'] }] },
      'filters[0].field',
      'must be the API name of a field',
    ],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_salesforce', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
