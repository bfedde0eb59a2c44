import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

async function search(
  provider: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  limit = 2,
) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(
    'find_people',
    { ...body, provider },
    { urls: { [provider]: origin }, limit },
  )
  return { pulled, seen }
}

const WANTED = {
  titles: ['CTO'],
  seniority: ['c_suite', 'founder'],
  company_domains: ['acme.com'],
  countries: ['DE'],
  keywords: ['data', 'cloud'],
}

describe('find_people by Apollo', () => {
  /** Searches return masked names, matches return full ones. */
  const serve =
    (pages: string[][]) =>
    ({ path, query, body }: Seen): Reply => {
      if (path.endsWith('/api_search')) {
        const found = pages[Number(query['page']) - 1] ?? []
        return {
          json: {
            total_entries: 3,
            people: found.map((id) => ({ id, first_name: 'Ann', last_name_obfuscated: 'Hu***n' })),
          },
        }
      }
      const { details } = JSON.parse(body) as { details: { id: string }[] }
      return {
        json: {
          matches: details.map(({ id }) =>
            id === 'gone'
              ? null
              : {
                  id,
                  name: id === 'masked' ? 'Ann Hu***n' : `Ann ${id}`,
                  title: 'CTO',
                  linkedin_url: `http://www.linkedin.com/in/${id}`,
                  city: 'Berlin',
                  country: 'Germany',
                  organization: { name: 'Acme', primary_domain: 'acme.com' },
                },
          ),
        },
      }
    }

  it('searches, then requests the people found by id, page by page', async () => {
    const { pulled, seen } = await search('apollo', WANTED, serve([['1', '2'], ['3']]))
    expect(seen.map(({ path }) => path)).toEqual([
      '/api/v1/mixed_people/api_search',
      '/api/v1/people/bulk_match',
      '/api/v1/mixed_people/api_search',
      '/api/v1/people/bulk_match',
    ])
    expect(seen[0]?.query).toEqual({
      'person_titles[]': 'CTO',
      'person_seniorities[]': 'founder',
      'q_organization_domains_list[]': 'acme.com',
      'person_locations[]': 'Germany',
      q_keywords: 'data cloud',
      page: '1',
      per_page: '2',
    })
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({ details: [{ id: '1' }, { id: '2' }] })
    expect(pulled).toMatchObject({ keys: ['1', '2', '3'], total: 3, skipped: 0, refusal: null })
    expect(pulled.rows[0]).toEqual({
      full_name: 'Ann 1',
      title: 'CTO',
      company: 'Acme',
      domain: 'acme.com',
      linkedin_url: 'http://www.linkedin.com/in/1',
      location: 'Berlin, Germany',
    })
  })

  it('requests at most ten, and imports neither masked names nor people that Apollo does not know', async () => {
    const { pulled, seen } = await search('apollo', { titles: ['a'] }, serve([['masked', 'gone', '1']]), 1000)
    expect(seen[0]?.query['per_page']).toBe('10')
    expect(pulled).toMatchObject({ keys: ['1'], skipped: 1 })
  })

  it.each([
    [{ status: 401 }, { kind: 'unconfigured' }],
    [{ status: 422, json: { error: 'out of credits' } }, { kind: 'no_credits' }],
    [{ status: 503 }, { kind: 'error', transient: true }],
    [{ json: { people: {} } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await search('apollo', { titles: ['a'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it('passes on a refusal of the second request', async () => {
    const { pulled } = await search('apollo', { titles: ['a'] }, (_seen, n) =>
      n === 0 ? { json: { people: [{ id: '1' }] } } : { status: 429 },
    )
    expect(pulled).toMatchObject({ rows: [], refusal: { kind: 'rate_limited' } })
  })
})

describe('find_people by Crustdata', () => {
  const profile = (id: number) => ({
    crustdata_person_id: id,
    basic_profile: { name: `Ann ${id}`, headline: 'Builder', location: { full_location: 'Berlin, Germany' } },
    experience: {
      employment_details: {
        current: [{ title: 'CTO', company_name: 'Acme', company_website_domain: 'acme.com' }],
      },
    },
    social_handles: {
      professional_network_identifier: { profile_url: `https://www.linkedin.com/in/${id}` },
    },
  })

  it('sends conditions and follows the cursor', async () => {
    const { pulled, seen } = await search('crustdata', WANTED, (_seen, n) => ({
      json: { profiles: [profile(n)], next_cursor: n === 0 ? 'c1' : null, total_count: 2 },
    }))
    expect(seen[0]).toMatchObject({ path: '/person/search', headers: { 'x-api-version': '2025-11-01' } })
    const job = 'experience.employment_details.current'
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({
      filters: {
        op: 'and',
        conditions: [
          { op: 'or', conditions: [{ field: `${job}.title`, type: '(.)', value: 'CTO' }] },
          { field: `${job}.seniority_level`, type: 'in', value: ['CXO', 'Owner / Partner'] },
          { field: `${job}.company_website_domain`, type: 'in', value: ['acme.com'] },
          {
            op: 'or',
            conditions: [{ field: 'basic_profile.location.full_location', type: '(.)', value: 'Germany' }],
          },
          {
            op: 'or',
            conditions: ['data', 'cloud'].map((value) => ({
              field: 'basic_profile.headline',
              type: '(.)',
              value,
            })),
          },
        ],
      },
      limit: 2,
      cursor: 'c1',
    })
    expect(pulled).toMatchObject({ keys: ['0', '1'], total: 2, refusal: null })
    expect(pulled.rows[0]).toEqual({
      full_name: 'Ann 0',
      title: 'CTO',
      company: 'Acme',
      domain: 'acme.com',
      linkedin_url: 'https://www.linkedin.com/in/0',
      location: 'Berlin, Germany',
    })
  })

  it('passes on a reply of another shape', async () => {
    const { pulled } = await search('crustdata', { titles: ['a'] }, () => ({ json: [] }))
    expect(pulled.refusal).toMatchObject({ kind: 'error', transient: false })
  })
})

it.each([
  [{}, 'titles required, unless another filter is given'],
  [{ seniority: ['boss'] }, 'seniority[0]'],
  [{ title: 'CTO' }, 'title not accepted'],
])('find_people refuses %j by name', async (body, words) => {
  expect(await requestErrors('find_people', body)).toContain(words)
})
