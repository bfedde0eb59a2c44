import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { openSource, pullSource, type Settings } from '../../testing/pull-source.ts'
import { readPage } from '../../walk.ts'

const ALL = Array.from({ length: 5 }, (_, n) => ({ id: n + 1, name: `item ${n + 1}` }))
const SECRET = 's-secret/0123456789+'

async function pullFrom(
  answer: (seen: Seen, place: number, origin: string) => Reply,
  body: Record<string, unknown> = {},
  settings: Settings & { state?: unknown } = {},
) {
  let origin = ''
  const double = await serveDouble((seen, place) => answer(seen, place, origin))
  origin = double.origin
  const url = `${origin}/items`
  const pulled = await pullSource('import_from_api', { url, key_path: 'id', ...body }, settings)
  return { seen: double.seen, origin, pulled }
}

const pageOf = (start: number, size: number) => ALL.slice(start, start + size)
const KEYS = ['1', '2', '3', '4', '5']

describe('import_from_api', () => {
  it('reads a list, and numbered pages until one is short', async () => {
    const whole = await pullFrom(() => ({ json: ALL }))
    expect(whole.pulled).toMatchObject({ keys: KEYS, rows: ALL })
    const { seen, pulled } = await pullFrom(
      ({ query }) => ({ json: { data: { list: pageOf((Number(query['p']) - 1) * 2, 2) }, total: 5 } }),
      {
        items_path: 'data.list',
        total_path: 'total',
        query: { sort: 'id' },
        pagination: { type: 'page', parameter: 'p', size_parameter: 'n', size: 2 },
      },
    )
    expect(seen.map(({ query }) => query)).toEqual(['1', '2', '3'].map((p) => ({ sort: 'id', p, n: '2' })))
    expect(pulled).toMatchObject({ keys: KEYS, total: 5 })
  })

  it('reads numbered pages until one is empty if the page size is unknown', async () => {
    const { pulled } = await pullFrom(({ query }) => ({ json: pageOf(Number(query['page']) * 2, 2) }), {
      pagination: { type: 'page', first: 0 },
    })
    expect(pulled).toMatchObject({ keys: KEYS, pages: 4, refusal: null })
  })

  it('ends if the server ignores page numbers and returns the same items again', async () => {
    const { pulled } = await pullFrom(() => ({ json: ALL }), { pagination: { type: 'page' } })
    expect(pulled).toMatchObject({ pages: 2, refusal: null })
  })

  it('reads by offset, which is in the body of a POST', async () => {
    const { seen, pulled } = await pullFrom(
      ({ body }) => {
        const { from, limit } = JSON.parse(body) as { from: number; limit: number }
        return { json: { items: pageOf(from, limit) } }
      },
      {
        method: 'POST',
        json: { filter: 'open' },
        items_path: 'items',
        pagination: { type: 'offset', parameter: 'from', size: 2 },
      },
    )
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual(
      [0, 2, 4].map((from) => ({ filter: 'open', from, limit: 2 })),
    )
    expect(pulled.keys).toEqual(KEYS)
  })

  it('reads by cursor, past an empty page in the middle, and ends at a repeated cursor', async () => {
    const pages: Record<string, unknown> = {
      start: { items: pageOf(0, 2), meta: { next: 'b' } },
      b: { items: [], meta: { next: 7 } },
      '7': { items: pageOf(2, 3), meta: { next: '' } },
    }
    const answer = ({ query }: Seen): Reply => ({ json: pages[query['after'] ?? 'start'] })
    const body = {
      items_path: 'items',
      pagination: { type: 'cursor', parameter: 'after', path: 'meta.next' },
    }
    expect((await pullFrom(answer, body)).pulled.keys).toEqual(KEYS)
    const repeats = await pullFrom(
      (_seen, place) => ({ json: { items: [{ id: place }], meta: { next: 'same' } } }),
      body,
    )
    expect(repeats.pulled).toMatchObject({ note: expect.stringContaining('read already') })
  })

  it('follows the Link header and URLs in the body, but never to another host', async () => {
    const linked = await pullFrom(
      ({ query }) => {
        const page = Number(query['page'] ?? 1)
        const link = `</items?page=1>; rel="first", </items?page=${page + 1}>; title="a, b"; rel="next"`
        return { json: pageOf((page - 1) * 3, 3), ...(page === 1 ? { headers: { link } } : {}) }
      },
      { pagination: { type: 'link' } },
    )
    expect(linked.pulled.keys).toEqual(KEYS)
    const body = { items_path: 'results', pagination: { type: 'next_url', path: 'next' } }
    const named = await pullFrom(
      ({ query }, _place, origin) => ({
        json: {
          results: pageOf(Number(query['at'] ?? 0), 3),
          next: query['at'] === undefined ? `${origin}/items?at=3` : null,
        },
      }),
      body,
    )
    expect(named.pulled.keys).toEqual(KEYS)
    const abroad = await pullFrom(
      () => ({ json: { results: ALL, next: 'https://other.example/items' } }),
      body,
    )
    expect(abroad.pulled).toMatchObject({ keys: KEYS, refusal: { kind: 'ineligible' } })
  })

  it('an answer of millions of values is refused before it is parsed', async () => {
    const { pulled } = await pullFrom(() => ({ text: `[${'1,'.repeat(300_000)}1]` }))
    expect(pulled.refusal).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('more than 300,000 values'),
    })
  })

  it('records of more bytes or fields than a row may have are skipped', async () => {
    const wide = Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`field${n}`, n]))
    const { pulled } = await pullFrom(() => ({
      json: [{ id: 1, text: 'x'.repeat(2 * 1024 * 1024) }, { id: 2, ...wide }, { id: 3 }],
    }))
    expect(pulled).toMatchObject({ keys: ['3'], skipped: 2, refusal: null })
  })

  it('refuses a cursor that is too long to store', async () => {
    const { seen, pulled } = await pullFrom(() => ({ json: { items: ALL, next: 'c'.repeat(500_001) } }), {
      items_path: 'items',
      pagination: { type: 'cursor', path: 'next' },
    })
    expect(seen).toHaveLength(1)
    expect(pulled.refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('next page'),
    })
  })

  it('sends credentials from environment variables, and neither stores nor shows them', async () => {
    const body = {
      headers: { Authorization: 'Bearer {{env.API_TOKEN}}' },
      query: { api_key: '{{env.API_TOKEN}}' },
      items_path: 'results',
      pagination: { type: 'next_url', path: 'next' },
    }
    const sent: unknown[] = []
    const { seen, pulled } = await pullFrom(
      ({ query, headers }, place, origin) => {
        sent.push(headers.authorization)
        if (place === 2) return { status: 400, json: { error: `wrong key ${SECRET}` } }
        const next = `${origin}/items?at=1&api_key=${encodeURIComponent(SECRET)}`
        return {
          json: {
            results: [{ id: 1, echo: `${String(headers.authorization)} ${query['at'] ?? ''}` }],
            next: place === 0 ? next : `${next}&more=1`,
          },
        }
      },
      body,
      { env: { API_TOKEN: SECRET } },
    )
    expect(sent).toEqual(Array(3).fill(`Bearer ${SECRET}`))
    expect(seen[1]?.query).toEqual({ at: '1', api_key: SECRET })
    expect(pulled.refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('wrong key'),
    })
    expect(JSON.stringify(pulled)).not.toContain(SECRET)
    expect(JSON.stringify(pulled)).not.toContain(encodeURIComponent(SECRET))
  })

  it('keeps no secret in the stored position', async () => {
    const { origin } = await serveDouble(({ query }) => ({
      json: {
        results: [{ id: query['at'] ?? '0' }],
        next: query['at'] === undefined ? `/items?at=1&key=${encodeURIComponent(SECRET)}` : null,
      },
    }))
    const opened = await openSource(
      'import_from_api',
      {
        url: `${origin}/items`,
        query: { key: '{{env.K}}' },
        items_path: 'results',
        pagination: { type: 'next_url', path: 'next' },
      },
      { env: { K: SECRET } },
    )
    const page = await readPage(
      opened.source,
      opened.reached,
      { body: opened.body, state: null, limit: 10 },
      opened.services,
    )
    expect(page).toMatchObject({ next: { url: `${origin}/items?at=1&key={{env.K}}` } })
  })

  it('says which variable has no value', async () => {
    const { seen, pulled } = await pullFrom(() => ({ json: ALL }), {
      headers: { 'X-Api-Key': '{{env.NONE}}' },
    })
    expect(pulled.refusal).toEqual({
      kind: 'unconfigured',
      message: 'the environment variable NONE has no value; run `loam env set NONE -`',
    })
    expect(seen).toEqual([])
  })

  it.each([
    [{ status: 401 }, { kind: 'unconfigured' }],
    [
      { status: 429, headers: { 'retry-after': '9' } },
      { kind: 'rate_limited', afterMs: 9000 },
    ],
    [{ status: 502 }, { kind: 'error', transient: true }],
    [{ text: '<html>' }, { kind: 'error', message: 'the answer is not valid JSON' }],
    [
      { json: { users: [], meta: {} } },
      { kind: 'ineligible', message: expect.stringContaining('there are lists at: users') },
    ],
  ])('passes on %j', async (reply, refusal) => {
    expect((await pullFrom(() => reply)).pulled.refusal).toMatchObject(refusal)
  })

  it('an item without a key is identified by its values', async () => {
    const { pulled } = await pullFrom(() => ({ json: [{ id: null, a: 1 }, { a: 1, id: null }, 'text'] }))
    expect(pulled.rows).toEqual([{ id: null, a: 1 }, { value: 'text' }])
  })

  it.each<[name: string, ids: string[], keys: string[]]>([
    [
      'beyond 2^53',
      ['12345678901234567890', '12345678901234567891', '9007199254740993', '9007199254740992'],
      ['12345678901234567890', '12345678901234567891', '9007199254740993', '9007199254740992'],
    ],
    [
      'with many digits behind the point',
      ['1234567890.12345678', '1234567890.12345679'],
      ['1234567890.12345678', '1234567890.12345679'],
    ],
    ['that are the same number or text', ['5', '"5"', '5.0', '50e-1', '6'], ['5', '6']],
  ])('D49: ids %s are keys', async (_name, ids, keys) => {
    const { pulled } = await pullFrom(() => ({ text: `[${ids.map((id) => `{"id":${id}}`).join(',')}]` }))
    expect(pulled.keys).toEqual(keys)
  })

  it('D28: numbers are stored as they were written, also in a large answer', async () => {
    const items = ['1.50', '-0', '1e3', '0.0000001', '0.1', '12345678901234567890', '7'].map(
      (number, n) => `{"id":${n},"size":${number},"more":{"list":[${number}]}}`,
    )
    const { pulled } = await pullFrom(() => ({ text: `[${items.join(',')}]` }))
    expect(pulled.stored).toEqual(items)
    const rest = Array.from({ length: 3000 }, (_, n) => `{"id":${n + 10},"text":"${'x'.repeat(100)}"}`)
    const large = await pullFrom(() => ({ text: `{"data": [${[...items, ...rest].join(', ')}]}` }), {
      items_path: 'data',
    })
    expect(large.pulled.stored).toEqual([...items, ...rest])
  })

  it('cursors that are numbers keep their digits, and totals are numbers', async () => {
    const { seen, pulled } = await pullFrom(
      ({ query }) => ({
        text:
          query['cursor'] === undefined
            ? '{"items":[{"id":1}],"next":12345678901234567891,"total":2.0}'
            : '{"items":[{"id":2}],"next":null,"total":2.0}',
      }),
      {
        items_path: 'items',
        total_path: 'total',
        pagination: { type: 'cursor', path: 'next' },
      },
    )
    expect(seen.map(({ query }) => query)).toEqual([{}, { cursor: '12345678901234567891' }])
    expect(pulled).toMatchObject({ keys: ['1', '2'], total: 2 })
  })

  it.each([
    [{ url: 'ftp://a.example' }, 'url', 'must be a URL that starts with https://'],
    [{ url: 'https://u:p@a.example' }, 'url', 'must not contain a user name or password'],
    [{ url: 'https://{{env.HOST}}/' }, 'url', 'must not refer to variables'],
    [{ headers: { Authorization: 'Bearer abc' } }, 'headers.Authorization', 'loam env set'],
    [{ headers: { 'X-Api-Key': 'abc' } }, 'headers.X-Api-Key', 'loam env set'],
    [{ query: { api_key: 'abc' } }, 'query.api_key', 'loam env set'],
    [{ headers: { accept: '{{input.x}}' } }, 'headers.accept', 'may only refer to environment variables'],
    [{ pagination: { type: 'pages' } }, 'pagination', 'must have a type'],
    [{ pagination: { type: 'cursor' } }, 'pagination.path', 'required'],
    [{ json: { a: 1 } }, 'json', 'needs method POST'],
    [{ items_path: 'a..b' }, 'items_path', 'must be names separated by dots'],
  ])('refuses %j by name', async (body, field, words) => {
    const refused = await pullSource('import_from_api', { url: 'https://a.example', ...body }).catch(
      (cause: unknown) => cause,
    )
    const { errors = [] } = (refused as { details: { errors?: { field: string; message: string }[] } })
      .details
    expect(errors.find((one) => one.field.startsWith(field))?.message).toContain(words)
  })
})
