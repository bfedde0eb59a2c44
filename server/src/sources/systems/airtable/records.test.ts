import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const BODY = { base: 'appAbcDefGhiJkl', table: 'Leads / new' }
const record = (n: number, fields: Record<string, unknown>) => ({
  id: `rec${n}`,
  createdTime: '2026-01-01T00:00:00.000Z',
  fields,
})

describe('import_from_airtable', () => {
  it('lists by offset; a field without a value, which Airtable leaves out, is empty', async () => {
    const addresses: string[] = []
    const { origin, seen } = await serveDouble(({ path, query }) => {
      addresses.push(path)
      return query['offset'] === undefined
        ? { json: { records: [record(1, { Name: 'Acme', Size: 5 })], offset: 'itr/rec2' } }
        : { json: { records: [record(2, { Name: 'Beta' })] } }
    })
    const body = { ...BODY, fields: ['Name', 'Size'] }
    const pulled = await pullSource('import_from_airtable', body, { urls: { airtable: origin } })
    expect(addresses).toEqual(Array(2).fill('/v0/appAbcDefGhiJkl/Leads%20%2F%20new'))
    expect(seen[1]?.query).toMatchObject({ pageSize: '100', offset: 'itr/rec2' })
    expect(pulled.rows).toEqual([
      { id: 'rec1', Name: 'Acme', Size: 5 },
      { id: 'rec2', Name: 'Beta', Size: null },
    ])
  })

  it('starts again if its offset has expired', async () => {
    const { origin } = await serveDouble(({ query }) =>
      query['offset'] === undefined
        ? { json: { records: [record(1, { Name: 'Acme' })] } }
        : { status: 422, json: { error: { type: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE' } } },
    )
    const state = { offset: 'itr/old' }
    const pulled = await pullSource('import_from_airtable', BODY, { urls: { airtable: origin }, state })
    expect(pulled).toMatchObject({ keys: ['rec1'], refusal: null })
  })

  it.each([
    [{ status: 404, json: { error: 'NOT_FOUND' } }, { kind: 'ineligible' }],
    [{ status: 422, json: { error: { type: 'UNKNOWN_FIELD_NAME' } } }, { kind: 'ineligible' }],
    [{ status: 401, json: { error: { type: 'AUTHENTICATION_REQUIRED' } } }, { kind: 'unconfigured' }],
  ])('passes on %j', async (reply, refusal) => {
    const { origin } = await serveDouble(() => reply)
    const pulled = await pullSource('import_from_airtable', BODY, { urls: { airtable: origin } })
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it('refuses an invalid base and names the field', async () => {
    await expect(pullSource('import_from_airtable', { ...BODY, base: 'Sales' })).rejects.toMatchObject({
      details: { errors: [{ field: 'base', message: expect.stringContaining('must be the id of a base') }] },
    })
  })
})
