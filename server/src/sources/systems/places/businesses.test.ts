import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

const SLUG = 'search_local_businesses'

const element = (id: number, more: object = {}) => ({
  id,
  lat: 52.5,
  lon: 13.4,
  tags: { name: `Dentist ${id}`, amenity: 'dentist' },
  ...more,
})
const MAP: Record<string, ReturnType<typeof element>[]> = {
  node: [
    element(3, {
      tags: {
        name: 'Zahnarzt Mitte',
        amenity: 'dentist',
        'addr:street': 'Torstr.',
        'addr:housenumber': '1',
        'addr:postcode': '10119',
        'addr:city': 'Berlin',
        'contact:phone': '+49 30 1',
        website: 'https://mitte.example',
      },
    }),
    element(5),
    element(8),
  ],
  way: [element(2, { lat: undefined, lon: undefined, center: { lat: 52.6, lon: 13.5 } })],
  relation: [],
}

/** Replies as Overpass does: elements of one kind after an id, in its order, up to the requested number. */
function interpret({ query }: Seen): Reply {
  const [, kind = '', after, size] =
    /\((\w+)\[.*\(if:id\(\)>(\d+)\).* asc (\d+);$/.exec(query['data'] ?? '') ?? []
  const behind = (MAP[kind] ?? []).filter(({ id }) => id > Number(after))
  return {
    json: { version: 0.6, elements: behind.slice(0, Number(size)).map((one) => ({ type: kind, ...one })) },
  }
}

async function byMap(
  body: Record<string, unknown>,
  {
    places = [{ boundingbox: ['52.3', '52.7', '13.0', '13.8'] }],
    answer = interpret,
    limit = 2,
  }: {
    places?: unknown
    answer?: (seen: Seen) => Reply
    limit?: number
  } = {},
) {
  const nominatim = await serveDouble(() => ({ json: places }))
  const overpass = await serveDouble(answer)
  const urls = { nominatim: nominatim.origin, overpass: overpass.origin }
  const pulled = await pullSource(SLUG, body, { urls, fields: null, limit })
  return { pulled, found: nominatim.seen, queries: overpass.seen.map(({ query }) => query['data'] ?? '') }
}

describe('search_local_businesses by OpenStreetMap, without a key', () => {
  it('looks up the place once, then reads every kind of element to its end', async () => {
    const { pulled, found, queries } = await byMap({ query: 'dentists', location: 'Berlin' })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject({ path: '/search', query: { q: 'Berlin', format: 'jsonv2', limit: '1' } })
    expect(found[0]?.headers['user-agent']).toBe('Loam/0.1')
    expect(queries[0]).toBe(
      '[out:json][timeout:25];(node["name"][~"^(shop|amenity|office|craft|healthcare|leisure|tourism|cuisine)$"' +
        '~"(^|;)(dentists|dentist)s?(;|$)",i](52.3,13,52.7,13.8)(if:id()>0);' +
        'node["name"~"dentists",i][~"^(shop|amenity|office|craft|healthcare|leisure|tourism)$"~"."]' +
        '(52.3,13,52.7,13.8)(if:id()>0););out tags center asc 2;',
    )
    expect(pulled).toMatchObject({ keys: ['node/3', 'node/5', 'node/8', 'way/2'], refusal: null, note: null })
    expect(pulled.rows[0]).toEqual({
      name: 'Zahnarzt Mitte',
      category: 'dentist',
      address: 'Torstr. 1, 10119 Berlin',
      phone: '+49 30 1',
      website: 'https://mitte.example',
      latitude: 52.5,
      longitude: 13.4,
    })
    expect(pulled.rows[3]).toMatchObject({ latitude: 52.6, longitude: 13.5, address: null })
  })

  it('searches around a point without looking up a place', async () => {
    const { found, queries } = await byMap({
      query: 'Coffee Shops',
      latitude: 52.5,
      longitude: 13.4,
      radius_m: 300,
    })
    expect(found).toEqual([])
    expect(queries[0]).toContain('(coffee_shops|coffee_shop|cafe)s?')
    expect(queries[0]).toContain('(around:300,52.5,13.4)')
  })

  it('lets no part of a query become code', async () => {
    const { queries } = await byMap({ query: '"];out;//.*', latitude: 1, longitude: 1 })
    expect(queries[0]).toContain('["name"~"out",i]')
    expect(queries[0]).not.toContain('//')
  })

  it('names a place that is unknown', async () => {
    const { pulled } = await byMap({ query: 'dentist', location: 'Nowhere' }, { places: [] })
    expect(pulled.refusal).toMatchObject({ kind: 'ineligible' })
    expect(JSON.stringify(pulled.refusal)).toContain('Nowhere')
  })

  it.each([
    [
      { json: { elements: [], remark: 'runtime error: Query timed out' } },
      { kind: 'error', transient: true },
    ],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', afterMs: 7000 },
    ],
    [
      { status: 504, text: '<html>' },
      { kind: 'error', transient: true },
    ],
    [{ status: 400, text: '<html>parse error' }, { kind: 'ineligible' }],
    [{ json: { elements: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await byMap({ query: 'a', latitude: 1, longitude: 1 }, { answer: () => reply })
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it('passes on a refusal of Nominatim', async () => {
    const { pulled } = await byMap({ query: 'a', location: 'b c' }, { places: { error: 'no' } })
    expect(pulled.refusal).toMatchObject({ kind: 'error', transient: false })
  })
})

async function byKey(
  provider: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(SLUG, { ...body, provider }, { urls: { [provider]: origin }, limit: 50 })
  return { pulled, seen, asked: seen.map((one) => JSON.parse(one.body) as Record<string, unknown>) }
}

describe('search_local_businesses by Google Places', () => {
  it('requests the fields of a row, and reads all pages', async () => {
    const { pulled, seen, asked } = await byKey(
      'google_places',
      { query: 'dentist', location: 'Berlin' },
      (_seen, n) => ({
        json: {
          places: [
            {
              id: `g${n}`,
              displayName: { text: 'Zahnarzt' },
              primaryType: 'dental_clinic',
              formattedAddress: 'Torstr. 1',
              nationalPhoneNumber: '030 1',
              websiteUri: 'https://a.example',
              location: { latitude: 52.5, longitude: 13.4 },
            },
          ],
          ...(n === 0 ? { nextPageToken: 't1' } : {}),
        },
      }),
    )
    expect(seen[0]).toMatchObject({ path: '/v1/places:searchText', headers: { 'x-goog-api-key': 'a-key' } })
    expect(seen[0]?.headers['x-goog-fieldmask']).toMatch(/places\.id,.*nextPageToken/)
    expect(asked).toEqual([
      { textQuery: 'dentist in Berlin', pageSize: 20 },
      { textQuery: 'dentist in Berlin', pageSize: 20, pageToken: 't1' },
    ])
    expect(pulled).toMatchObject({ keys: ['g0', 'g1'] })
    expect(pulled.rows[0]).toMatchObject({ name: 'Zahnarzt', category: 'dental clinic', phone: '030 1' })
  })

  it('limits a search around a point to a rectangle', async () => {
    const { asked } = await byKey(
      'google_places',
      { query: 'dentist', latitude: 0, longitude: 10, radius_m: 11_132 },
      () => ({ json: {} }),
    )
    expect(asked[0]).toMatchObject({
      textQuery: 'dentist',
      locationRestriction: {
        rectangle: { low: { latitude: -0.1, longitude: 9.9 }, high: { latitude: 0.1 } },
      },
    })
  })

  it('recognises a bad key by the reason of a 400', async () => {
    const { pulled } = await byKey('google_places', { query: 'a', location: 'bc' }, () => ({
      status: 400,
      json: { error: { code: 400, details: [{ reason: 'API_KEY_INVALID' }] } },
    }))
    expect(pulled.refusal).toMatchObject({ kind: 'unconfigured' })
  })
})

describe('search_local_businesses by Serper', () => {
  it('reads page by page until one is empty', async () => {
    const { pulled, asked } = await byKey('serper', { query: 'dentist', location: 'Berlin' }, (_seen, n) => ({
      json: {
        places: n < 2 ? [{ title: `Z${n}`, address: 'Torstr.', cid: n === 0 ? 'c0' : undefined }] : [],
      },
    }))
    expect(asked.map(({ q, page }) => [q, page])).toEqual([
      ['dentist in Berlin', 1],
      ['dentist in Berlin', 2],
      ['dentist in Berlin', 3],
    ])
    expect(pulled.rows.map(({ name }) => name)).toEqual(['Z0', 'Z1'])
    expect(pulled.keys[0]).toBe('c0')
  })

  it('refuses a search around a point', async () => {
    const { pulled } = await byKey('serper', { query: 'dentist', latitude: 1, longitude: 1 }, () => ({}))
    expect(pulled.refusal).toMatchObject({ kind: 'ineligible' })
  })
})

it.each([
  [{ location: 'Berlin' }, 'query required'],
  [{ query: 'dentist' }, 'location required, unless latitude and longitude are given'],
  [{ query: 'dentist', latitude: 1 }, 'longitude required; give latitude and longitude together'],
  [{ query: 'dentist', latitude: 91, longitude: 1 }, 'latitude'],
  [{ query: 'dentist', location: 'Berlin', radius_m: 5 }, 'radius_m needs latitude and longitude'],
  [
    { query: 'dentist', location: 'Berlin', latitude: 1, longitude: 1 },
    'location cannot be combined with latitude and longitude',
  ],
  [{ query: '***', location: 'Berlin' }, 'query must have a letter or a digit'],
])('search_local_businesses refuses %j by name', async (body, words) => {
  expect(await requestErrors(SLUG, body)).toContain(words)
})
