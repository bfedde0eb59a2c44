import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const deal = (id: number, update_time: string) => ({
  id,
  title: `deal ${id}`,
  update_time,
  custom_fields: { abc123: { value: 5, currency: 'EUR' } },
})

describe('import_from_pipedrive', () => {
  it('reads version 2 by its cursor, custom fields beside the others', async () => {
    const { origin, seen } = await serveDouble((_seen, place) => ({
      json:
        place === 0
          ? {
              success: true,
              data: [deal(1, '2026-01-01T00:00:00Z'), deal(2, '2026-01-02T00:00:00Z')],
              additional_data: { next_cursor: 'c2' },
            }
          : {
              success: true,
              data: [deal(3, '2026-01-03T00:00:00Z')],
              additional_data: { next_cursor: null },
            },
    }))
    const pulled = await pullSource(
      'import_from_pipedrive',
      { object: 'deals', fields: ['title', 'abc123'], filters: { filter_id: 9, status: 'open' } },
      { urls: { pipedrive: origin } },
    )
    const query = {
      filter_id: '9',
      status: 'open',
      sort_by: 'update_time',
      sort_direction: 'asc',
      limit: '500',
    }
    expect(seen.map((one) => [one.path, one.query])).toEqual([
      ['/api/v2/deals', query],
      ['/api/v2/deals', { ...query, cursor: 'c2' }],
    ])
    expect(pulled).toMatchObject({
      keys: ['1', '2', '3'],
      resume: { since: '2026-01-03T00:00:00Z', newest: null, cursor: null },
    })
    expect(pulled.rows[0]).toEqual({ id: 1, title: 'deal 1', abc123: { value: 5, currency: 'EUR' } })
  })

  it('on a schedule requests what changed since, and keeps its position if nothing did', async () => {
    const { origin, seen } = await serveDouble(() => ({
      json: { success: true, data: null, additional_data: null },
    }))
    const state = { since: '2026-01-03T00:00:00Z', newest: null, cursor: null }
    const pulled = await pullSource(
      'import_from_pipedrive',
      { object: 'persons' },
      { urls: { pipedrive: origin }, state },
    )
    expect(seen[0]?.query).toMatchObject({ updated_since: '2026-01-03T00:00:00Z' })
    expect(pulled).toMatchObject({ rows: [], resume: state })
  })

  it('returns all fields if none are given', async () => {
    const { origin } = await serveDouble(() => ({ json: { data: [deal(1, '2026-01-01T00:00:00Z')] } }))
    const { rows } = await pullSource(
      'import_from_pipedrive',
      { object: 'deals' },
      { urls: { pipedrive: origin } },
    )
    expect(rows).toEqual([
      { id: 1, title: 'deal 1', update_time: '2026-01-01T00:00:00Z', abc123: { value: 5, currency: 'EUR' } },
    ])
  })

  it.each([
    [{ object: 'leads' }, 'object', 'must be one of: deals, persons'],
    [{ object: 'deals', filters: { name: 'x' } }, 'filters.name', 'not accepted'],
    [{ object: 'deals', fields: ['a/b'] }, 'fields[0]', 'must be the key of a field'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_pipedrive', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
