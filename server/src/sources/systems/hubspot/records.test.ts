import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { type HubspotRecord, serveAccount } from '../../testing/hubspot-account.ts'
import { pullSource } from '../../testing/pull-source.ts'

const MOMENT = Date.parse('2026-01-01T00:00:00.000Z')
const iso = (ms: number) => new Date(ms).toISOString()
const company = (id: number, at: number, city: string | null = null): HubspotRecord => ({
  id: String(id),
  properties: { name: `c${id}`, city, hs_lastmodifieddate: iso(at) },
})
const BODY = { object_type: 'companies', properties: ['name', 'city'] }

async function account(records: HubspotRecord[]) {
  const { origin, seen } = await serveDouble(serveAccount(records))
  const pull = (body: Record<string, unknown>, settings = {}) =>
    pullSource('import_from_hubspot', body, { urls: { hubspot: origin }, ...settings })
  return { seen, pull }
}

describe('import_from_hubspot', () => {
  it('searches with the properties and filters, by last change, and gives the properties and the id', async () => {
    const { seen, pull } = await account([company(2, MOMENT + 1, 'Berlin'), company(1, MOMENT, 'Rome')])
    const filters = [{ field: 'city', operator: 'is any of', values: ['Berlin', 'Rome'] }]
    const { rows, keys, total } = await pull({ ...BODY, filters })
    expect(seen[0]?.path).toBe('/crm/v3/objects/companies/search')
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      filterGroups: [
        {
          filters: [
            { propertyName: 'hs_lastmodifieddate', operator: 'GTE', value: '0' },
            { propertyName: 'city', operator: 'IN', values: ['Berlin', 'Rome'] },
          ],
        },
      ],
      sorts: [{ propertyName: 'hs_lastmodifieddate', direction: 'ASCENDING' }],
      properties: ['name', 'city', 'hs_lastmodifieddate'],
      limit: 200,
    })
    expect(seen[0]?.headers.authorization).toBe('Bearer a-key')
    expect([rows, keys, total]).toEqual([
      [
        { id: '1', name: 'c1', city: 'Rome' },
        { id: '2', name: 'c2', city: 'Berlin' },
      ],
      ['1', '2'],
      2,
    ])
  })

  it('finds every record after the 10,000th, also if more than 10,000 share a timestamp', async () => {
    // The ids are shuffled, because a search may return equal records in any order.
    const tied = Array.from({ length: 10_450 }, (_, n) => company(1 + ((n * 7919) % 10_450), MOMENT))
    const { pull } = await account([
      company(20_001, MOMENT - 2),
      ...tied,
      company(20_002, MOMENT + 1),
      company(20_003, MOMENT + 2),
    ])
    const { keys, refusal, note } = await pull(BODY)
    expect([refusal, note]).toEqual([null, null])
    expect(new Set(keys).size).toBe(10_453)
  })

  it('on a schedule reads what changed since, with an overlap, because searches show changes late', async () => {
    const { seen, pull } = await account([company(1, MOMENT), company(2, MOMENT + 1000)])
    const { resume } = await pull(BODY)
    await pull(BODY, { state: resume })
    expect(JSON.parse(seen[1]?.body ?? '').filterGroups[0].filters[0]).toEqual({
      propertyName: 'hs_lastmodifieddate',
      operator: 'GTE',
      value: String(MOMENT + 1000 - 300_000),
    })
  })

  it('sorts contacts by their own property', async () => {
    const { seen, pull } = await account([])
    await pull({ object_type: 'contacts', properties: ['email'] })
    expect(JSON.parse(seen[0]?.body ?? '').sorts).toEqual([
      { propertyName: 'lastmodifieddate', direction: 'ASCENDING' },
    ])
  })

  it('reads the members of a list, then their properties; those deleted since are left out', async () => {
    const { origin, seen } = await serveDouble(({ path, query, body }) => {
      if (path === '/crm/v3/lists/7/memberships') {
        return query['after'] === undefined
          ? {
              json: {
                total: 3,
                results: [{ recordId: '1' }, { recordId: '2' }],
                paging: { next: { after: 'b' } },
              },
            }
          : { json: { total: 3, results: [{ recordId: '3' }] } }
      }
      const { inputs } = JSON.parse(body) as { inputs: { id: string }[] }
      const results = inputs
        .filter(({ id }) => id !== '2')
        .map(({ id }) => ({ id, properties: { name: `c${id}`, city: null } }))
      return { status: results.length < inputs.length ? 207 : 200, json: { status: 'COMPLETE', results } }
    })
    const pulled = await pullSource(
      'import_from_hubspot',
      { ...BODY, list_id: 7 },
      { urls: { hubspot: origin } },
    )
    expect(pulled).toMatchObject({ keys: ['1', '3'], total: 3, refusal: null })
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /crm/v3/lists/7/memberships',
      'POST /crm/v3/objects/companies/batch/read',
      'GET /crm/v3/lists/7/memberships',
      'POST /crm/v3/objects/companies/batch/read',
    ])
  })

  it.each([
    [{ status: 401, json: { category: 'EXPIRED_AUTHENTICATION' } }, { kind: 'unconfigured' }],
    [{ status: 400, json: { message: 'no such property' } }, { kind: 'ineligible' }],
    [{ status: 429, json: { policyName: 'DAILY' } }, { kind: 'no_credits' }],
    [
      { status: 429, json: { policyName: 'SECONDLY' }, headers: { 'retry-after': '3' } },
      { kind: 'rate_limited', afterMs: 3000 },
    ],
    [{ json: { results: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { origin } = await serveDouble(() => reply)
    const pulled = await pullSource('import_from_hubspot', BODY, { urls: { hubspot: origin } })
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{ properties: ['a'] }, 'object_type', 'required'],
    [{ ...BODY, object_type: '../x' }, 'object_type', 'must be an object type, such as contacts'],
    [{ ...BODY, properties: ['a b'] }, 'properties[0]', 'must be the internal name of a property'],
    [
      { ...BODY, filters: [{ field: 'a', operator: 'is empty', values: ['x'] }] },
      'filters[0].values',
      'takes no values',
    ],
    [
      { ...BODY, filters: [{ field: 'a', operator: 'is', values: [] }] },
      'filters[0].operator',
      'must be one of',
    ],
    [
      { ...BODY, list_id: '7', filters: [{ field: 'a', operator: 'not empty' }] },
      'filters',
      'cannot be combined with list_id',
    ],
    [{ ...BODY, list_id: '7/..' }, 'list_id', 'must be the id of a list'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_hubspot', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
