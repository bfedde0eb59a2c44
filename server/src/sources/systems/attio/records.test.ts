import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const around = {
  active_from: '2026-01-01T00:00:00.000000000Z',
  active_until: null,
  created_by_actor: { type: 'system' },
}
const record = (id: number) => ({
  id: { workspace_id: 'w', object_id: 'o', record_id: `r${id}` },
  created_at: '2026-01-01T00:00:00.000000000Z',
  web_url: `https://app.attio.com/w/company/r${id}`,
  values: {
    name: [{ ...around, attribute_type: 'text', value: `Company ${id}` }],
    domains: [
      { ...around, attribute_type: 'domain', domain: 'acme.example', root_domain: 'acme.example' },
      { ...around, attribute_type: 'domain', domain: 'acme.test', root_domain: 'acme.test' },
    ],
    stage: [{ ...around, attribute_type: 'status', status: { id: {}, title: 'Won', is_archived: false } }],
    arr: [{ ...around, attribute_type: 'currency', currency_value: 12.5, currency_code: 'EUR' }],
    team: [
      { ...around, attribute_type: 'record-reference', target_object: 'people', target_record_id: 'p1' },
    ],
    place: [{ ...around, attribute_type: 'location', locality: 'Berlin', country_code: 'DE' }],
    notes: [],
  },
})

describe('import_from_attio', () => {
  it('queries by offset until a page is not full, and reads every type of value', async () => {
    const all = Array.from({ length: 501 }, (_, n) => record(n))
    const { origin, seen } = await serveDouble(({ body }) => {
      const { limit, offset } = JSON.parse(body) as { limit: number; offset: number }
      return { json: { data: all.slice(offset, offset + limit) } }
    })
    const filters = [
      { field: 'name', operator: 'contains', values: ['Comp'] },
      { field: 'arr', operator: 'is empty' },
    ]
    const pulled = await pullSource(
      'import_from_attio',
      { object: 'companies', filters },
      { urls: { attio: origin } },
    )
    expect(pulled.keys).toHaveLength(501)
    expect(seen.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual(
      [0, 500].map((offset) => [
        'POST',
        '/v2/objects/companies/records/query',
        {
          filter: { $and: [{ name: { $contains: 'Comp' } }, { $not: { arr: { $not_empty: true } } }] },
          sorts: [{ direction: 'asc', attribute: 'created_at' }],
          limit: 500,
          offset,
        },
      ]),
    )
    expect(pulled.rows[0]).toEqual({
      id: 'r0',
      web_url: 'https://app.attio.com/w/company/r0',
      name: 'Company 0',
      domains: ['acme.example', 'acme.test'],
      stage: 'Won',
      arr: 12.5,
      team: 'p1',
      place: { locality: 'Berlin', country_code: 'DE' },
      notes: null,
    })
  })

  it('returns the requested fields, and refuses invalid field names', async () => {
    const { origin } = await serveDouble(() => ({ json: { data: [record(1)] } }))
    const body = { object: 'companies', fields: ['name', 'unknown'] }
    const { rows } = await pullSource('import_from_attio', body, { urls: { attio: origin } })
    expect(rows).toEqual([
      { id: 'r1', web_url: 'https://app.attio.com/w/company/r1', name: 'Company 1', unknown: null },
    ])
    const named = { object: 'companies', fields: ['constructor'] }
    expect((await pullSource('import_from_attio', named, { urls: { attio: origin } })).rows).toEqual([
      { id: 'r1', web_url: 'https://app.attio.com/w/company/r1', constructor: null },
    ])
    await expect(pullSource('import_from_attio', { object: '../lists' })).rejects.toMatchObject({
      details: { errors: [{ field: 'object', message: 'must be the slug of an object, such as companies' }] },
    })
  })
})
