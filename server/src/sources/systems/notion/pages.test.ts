import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { readProperty } from './property.ts'

const ID = '0123456789abcdef0123456789abcdef'
const page = (n: number, last_edited_time: string) => ({
  object: 'page',
  id: `p${n}`,
  url: `https://www.notion.so/p${n}`,
  last_edited_time,
  properties: {
    Name: { id: 'title', type: 'title', title: [{ plain_text: 'Ac' }, { plain_text: `me ${n}` }] },
    Size: { id: 'a', type: 'number', number: 5 },
  },
})

describe('import_from_notion', () => {
  it('queries a database by its cursor, in the order of edits', async () => {
    const { origin, seen: all } = await serveDouble(({ method }, place) => ({
      json:
        method === 'GET'
          ? { data_sources: [{ id: 'ds-1', name: 'Leads' }] }
          : place === 1
            ? { results: [page(1, '2026-01-01T10:00:00.000Z')], has_more: true, next_cursor: 'c2' }
            : { results: [page(2, '2026-01-01T10:05:00.000Z')], has_more: false, next_cursor: null },
    }))
    const body = { database: `https://www.notion.so/acme/Leads-${ID}?v=1`, fields: ['Name', 'None'] }
    const pulled = await pullSource('import_from_notion', body, { urls: { notion: origin } })
    const [database, ...seen] = all
    expect(database?.path).toBe(`/v1/databases/${ID}`)
    expect(seen.map((one) => [one.path, JSON.parse(one.body)])).toEqual(
      [{}, { start_cursor: 'c2' }].map((cursor) => [
        '/v1/data_sources/ds-1/query',
        { page_size: 100, sorts: [{ timestamp: 'last_edited_time', direction: 'ascending' }], ...cursor },
      ]),
    )
    expect(seen[0]?.headers['notion-version']).toBe('2025-09-03')
    expect(pulled.rows).toEqual([
      { id: 'p1', url: 'https://www.notion.so/p1', Name: 'Acme 1', None: null },
      { id: 'p2', url: 'https://www.notion.so/p2', Name: 'Acme 2', None: null },
    ])
    expect(pulled.resume).toEqual({
      since: '2026-01-01T10:05:00.000Z',
      newest: null,
      cursor: null,
      source: 'ds-1',
    })
  })

  it('on a schedule requests pages of the last minute again, because Notion reports whole minutes', async () => {
    const { origin, seen } = await serveDouble(() => ({
      json: { results: [], has_more: false, next_cursor: null },
    }))
    const state = { since: '2026-01-01T10:05:00.000Z', newest: null, cursor: null, source: 'ds-1' }
    const pulled = await pullSource(
      'import_from_notion',
      { database: ID },
      { urls: { notion: origin }, state },
    )
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      filter: { timestamp: 'last_edited_time', last_edited_time: { on_or_after: state.since } },
    })
    expect(pulled.resume).toEqual(state)
  })

  it('a database with several data sources is refused, with the ids to choose from', async () => {
    const { origin } = await serveDouble(() => ({
      json: {
        data_sources: [
          { id: 'ds-1', name: 'Leads' },
          { id: 'ds-2', name: 'Old' },
        ],
      },
    }))
    const { refusal } = await pullSource('import_from_notion', { database: ID }, { urls: { notion: origin } })
    expect(refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringMatching(/give the id of one of them: Leads \(ds-1\), Old \(ds-2\)/),
    })
  })

  it.each<[Record<string, unknown>, unknown]>([
    [{ type: 'select', select: { name: 'Lead' } }, 'Lead'],
    [{ type: 'select', select: null }, null],
    [{ type: 'multi_select', multi_select: [{ name: 'a' }, { name: 'b' }] }, ['a', 'b']],
    [{ type: 'date', date: { start: '2026-01-01', end: null } }, '2026-01-01'],
    [
      { type: 'date', date: { start: '2026-01-01', end: '2026-01-02' } },
      { start: '2026-01-01', end: '2026-01-02' },
    ],
    [{ type: 'people', people: [{ id: 'u1', name: 'Ann' }, { id: 'u2' }] }, ['Ann', 'u2']],
    [{ type: 'relation', relation: [{ id: 'p9' }] }, ['p9']],
    [
      { type: 'files', files: [{ type: 'external', external: { url: 'https://a.example/f' } }] },
      ['https://a.example/f'],
    ],
    [{ type: 'formula', formula: { type: 'number', number: 7 } }, 7],
    [{ type: 'rollup', rollup: { type: 'array', array: [{ type: 'number', number: 1 }] } }, [1]],
    [{ type: 'unique_id', unique_id: { prefix: 'LEAD', number: 3 } }, 'LEAD-3'],
    [{ type: 'checkbox', checkbox: false }, false],
    [{ type: 'email', email: 'a@acme.example' }, 'a@acme.example'],
    [{ type: 'what_is_to_come', what_is_to_come: { any: 1 } }, { any: 1 }],
  ])('reads %j', (property, value) => {
    expect(readProperty(property)).toEqual(value)
  })

  it('reports a database that is not shared, and refuses an invalid id', async () => {
    const { origin } = await serveDouble(() => ({
      status: 404,
      json: { code: 'object_not_found', message: 'Make sure the page is shared with your integration.' },
    }))
    const { refusal } = await pullSource('import_from_notion', { database: ID }, { urls: { notion: origin } })
    expect(refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('Make sure the page is shared'),
    })
    await expect(pullSource('import_from_notion', { database: 'Leads' })).rejects.toMatchObject({
      details: { errors: [{ field: 'database', message: 'must be the id or the URL of a database' }] },
    })
  })
})
