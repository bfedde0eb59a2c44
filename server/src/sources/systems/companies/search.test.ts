import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

async function search(
  provider: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  slug = 'find_companies',
) {
  const { origin, seen } = await serveDouble(answer)
  const named = slug === 'find_companies' ? { provider } : {}
  const now = new Date('2026-06-01T00:00:00Z')
  const pulled = await pullSource(
    slug,
    { ...body, ...named },
    { urls: { [provider]: origin }, limit: 2, now },
  )
  return { pulled, seen }
}
const asked = (seen: Seen[]) => seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>)

describe('find_companies by Apollo', () => {
  const organization = (id: string, more: object = {}) => ({
    id,
    name: `Company ${id}`,
    primary_domain: `${id}.com`,
    industry: 'software',
    estimated_num_employees: 120,
    country: 'Germany',
    linkedin_url: `http://www.linkedin.com/company/${id}`,
    founded_year: 2019,
    ...more,
  })

  it('sends the documented query and reads all pages, including the saved accounts', async () => {
    const { pulled, seen } = await search(
      'apollo',
      {
        keywords: ['data'],
        industries: ['software'],
        countries: ['DE'],
        employees_min: 50,
        technologies: ['Google Analytics'],
        founded_after: 2015,
      },
      (_seen, n) => ({
        json:
          n === 0
            ? {
                organizations: [organization('a'), organization('old', { founded_year: 1990 })],
                accounts: [
                  organization('x', { organization_id: 'b', primary_domain: null, domain: 'b.com' }),
                ],
                pagination: { total_entries: 4, total_pages: 2 },
              }
            : {
                organizations: [
                  organization('c', {
                    primary_domain: null,
                    website_url: 'http://www.c.com',
                    industry: null,
                    estimated_num_employees: null,
                  }),
                ],
                pagination: { total_entries: 4, total_pages: 2 },
              },
      }),
    )
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/mixed_companies/search',
      'POST /api/v1/mixed_companies/search',
    ])
    expect(seen[1]?.headers['x-api-key']).toBe('a-key')
    expect(seen[1]?.query).toEqual({
      'q_organization_keyword_tags[]': 'software',
      'organization_locations[]': 'Germany',
      'organization_num_employees_ranges[]': '50,10000000',
      'currently_using_any_of_technology_uids[]': 'google_analytics',
      page: '2',
      per_page: '2',
    })
    expect(pulled).toMatchObject({ keys: ['b', 'a', 'c'], total: 4, refusal: null })
    expect(pulled.rows[1]).toEqual({
      name: 'Company a',
      domain: 'a.com',
      industry: 'software',
      employees: 120,
      country: 'Germany',
      linkedin_url: 'http://www.linkedin.com/company/a',
    })
    expect(pulled.rows[2]).toMatchObject({ domain: 'c.com', industry: null, employees: null })
  })

  it('fills industry, size and country, which the search does not return', async () => {
    const bare = { id: 'a', name: 'Company a', primary_domain: 'a.com' }
    const { pulled, seen } = await search('apollo', { keywords: ['data'] }, ({ path }) => ({
      json: path.endsWith('/bulk_enrich')
        ? { status: 'success', organizations: [organization('a', { industry: 'software' }), null] }
        : {
            organizations: [bare, { ...bare, id: 'z', primary_domain: 'z.com' }],
            pagination: { total_entries: 2, total_pages: 1 },
          },
    }))
    expect(seen[1]).toMatchObject({ method: 'POST', path: '/api/v1/organizations/bulk_enrich' })
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({ domains: ['a.com', 'z.com'] })
    expect(pulled.rows).toMatchObject([
      { domain: 'a.com', industry: 'software', employees: 120, country: 'Germany' },
      { domain: 'z.com', industry: null, employees: null, country: null },
    ])
  })

  it.each([
    [{ status: 401 }, { kind: 'unconfigured' }],
    [
      { status: 403, json: { error: 'x', error_code: 'API_INACCESSIBLE' } },
      { kind: 'unconfigured', message: expect.stringMatching(/no access to this endpoint/) },
    ],
    [{ status: 422, json: { error_details: { code: 'INSUFFICIENT_CREDITS' } } }, { kind: 'no_credits' }],
    [{ status: 422, json: { error: 'insufficient credits' } }, { kind: 'no_credits' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', afterMs: 7000 },
    ],
    [{ json: { organizations: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await search('apollo', { keywords: ['a'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })
})

const business = (id: string) => ({
  business_id: id,
  name: `Business ${id}`,
  domain: `${id}.com`,
  country_name: 'Germany',
  number_of_employees_range: '51-200',
  naics_description: 'Software Publishers',
  linkedin_profile: `https://www.linkedin.com/company/${id}`,
})

describe('find_companies by Explorium', () => {
  it('sends the ranges that overlap the wanted one, and reads all pages', async () => {
    const { pulled, seen } = await search(
      'explorium',
      {
        keywords: ['data'],
        industries: ['Software Development'],
        countries: ['DE'],
        employees_min: 60,
        employees_max: 300,
        technologies: ['Kafka'],
        founded_after: 2021,
      },
      (_seen, n) => ({
        json: { data: n === 0 ? [business('a'), business('b')] : [business('c')], total_results: 3 },
      }),
    )
    expect(seen[0]).toMatchObject({ path: '/v1/businesses', headers: { api_key: 'a-key' } })
    expect(asked(seen)[0]).toEqual({
      mode: 'full',
      filters: {
        country_code: { values: ['de'] },
        linkedin_category: { values: ['software development'] },
        company_tech_stack_tech: { values: ['Kafka'] },
        company_size: { values: ['51-200', '201-500'] },
        company_age: { values: ['0-3', '3-6'] },
        website_keywords: { values: ['data'], operator: 'or' },
      },
      page: 1,
      page_size: 2,
      size: 10_000,
    })
    expect(asked(seen)[1]).toMatchObject({ page: 2, page_size: 2 })
    expect(pulled).toMatchObject({ keys: ['a', 'b', 'c'], total: 3, refusal: null })
    expect(pulled.rows[0]).toEqual({
      name: 'Business a',
      domain: 'a.com',
      industry: 'Software Publishers',
      employees: null,
      country: 'Germany',
      linkedin_url: 'https://www.linkedin.com/company/a',
    })
  })

  it.each([
    [{ status: 422, json: { detail: 'unknown category' } }, { kind: 'ineligible' }],
    [{ status: 503 }, { kind: 'error', transient: true }],
    [{ json: { data: {} } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await search('explorium', { keywords: ['a'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })
})

describe('find_companies_by_buying_intent', () => {
  it('reads topic by topic, and returns the topic by which each company was found', async () => {
    const { pulled, seen } = await search(
      'explorium',
      { topics: ['CRM: CRM', 'Security: Cloud'], level: 'high', countries: ['DE'] },
      (_seen, n) => ({
        json: { data: n === 0 ? [business('a'), business('b')] : n === 1 ? [] : [business('a')] },
      }),
      'find_companies_by_buying_intent',
    )
    expect(asked(seen).map(({ filters, page }) => [filters, page])).toEqual([
      [filtersOf('CRM: CRM'), 1],
      [filtersOf('CRM: CRM'), 2],
      [filtersOf('Security: Cloud'), 1],
    ])
    expect(pulled.keys).toEqual(['a CRM: CRM', 'b CRM: CRM', 'a Security: Cloud'])
    expect(pulled.rows[2]).toMatchObject({ name: 'Business a', topic: 'Security: Cloud', score: null })
  })

  const filtersOf = (topic: string) => ({
    business_intent_topics: { topics: [topic], topic_intent_level: 'very_high_intent' },
    country_code: { values: ['de'] },
  })

  it('passes on a refused key', async () => {
    const { pulled } = await search(
      'explorium',
      { topics: ['a'] },
      () => ({ status: 401 }),
      'find_companies_by_buying_intent',
    )
    expect(pulled.refusal).toMatchObject({ kind: 'unconfigured' })
  })
})

it.each([
  ['find_companies', {}, 'keywords required, unless another filter is given'],
  [
    'find_companies',
    { employees_min: 5, employees_max: 2 },
    'employees_min must not be greater than employees_max',
  ],
  ['find_companies', { employees: 5 }, 'employees not accepted'],
  ['find_companies', { countries: ['de'] }, 'countries[0] must be two capital letters'],
  ['find_companies_by_buying_intent', {}, 'topics required'],
  ['find_companies_by_buying_intent', { topics: ['a'], level: 'huge' }, 'level'],
])('%s refuses %j by name', async (slug, body, words) => {
  expect(await requestErrors(slug, body)).toContain(words)
})
