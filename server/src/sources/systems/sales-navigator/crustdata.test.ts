import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { listOptions } from '../../testing/list-options.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

const COMPANIES = 'find_companies_from_sales_navigator'
const PEOPLE = 'find_people_from_sales_navigator'

const company = (n: number) => ({
  basic_info: {
    name: `Company ${n}`,
    professional_network_id: String(n),
    professional_network_url: `https://www.linkedin.com/company/${n}/`,
    primary_domain: `http://www.company${n}.com`,
    industries: ['Cost Management'],
  },
  headcount: { total: 120 },
  taxonomy: { linkedin_industry: 'Software Development' },
  locations: { hq_country: 'United States' },
})

const person = (n: number) => ({
  basic_profile: { name: `Ann ${n}`, headline: 'CEO', location: { full_location: 'Berlin, Germany' } },
  experience: {
    employment_details: { current: [{ title: 'CEO', name: 'Acme', company_website_domain: 'acme.com' }] },
  },
  social_handles: { professional_network_identifier: { profile_url: `https://www.linkedin.com/in/ann${n}` } },
})

const several = <One>(count: number, make: (n: number) => One, from = 1) =>
  Array.from({ length: count }, (_, n) => make(from + n))

async function search(
  slug: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(slug, body, { urls: { crustdata: origin } })
  return { pulled, seen, sent: seen.map((one) => JSON.parse(one.body) as Record<string, unknown>) }
}

describe('find_companies_from_sales_navigator', () => {
  it('reads a search by its URL, page by page, and ends with a page that is not full', async () => {
    const address =
      'https://www.linkedin.com/sales/search/company?page=3&query=(filters%3AList((type%3AREGION)))'
    const { pulled, seen, sent } = await search(COMPANIES, { search_url: address }, (_seen, place) => ({
      json: { companies: place === 0 ? several(25, company) : [company(26)], total_display_count: '26' },
    }))
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /company/professional_network/search/live',
      'POST /company/professional_network/search/live',
    ])
    expect(seen[0]?.headers).toMatchObject({ 'x-api-version': '2025-11-01', authorization: 'Bearer a-key' })
    expect(sent).toEqual(
      [1, 2].map((page) => ({
        professional_network_search_url: `https://www.linkedin.com/sales/search/company?query=(filters%3AList((type%3AREGION)))&page=${page}`,
      })),
    )
    expect(pulled).toMatchObject({ total: 26, capped: false, refusal: null })
    expect(pulled.keys).toHaveLength(26)
    expect(pulled.rows[0]).toEqual({
      name: 'Company 1',
      domain: 'company1.com',
      industry: 'Software Development',
      employees: 120,
      country: 'United States',
      linkedin_url: 'https://www.linkedin.com/company/1/',
    })
  })

  it('filters are sent by the names of Sales Navigator, and a rounded total is left out', async () => {
    const filters = {
      location: ['Germany'],
      industries: ['Software Development'],
      company_headcount: ['51-200'],
    }
    const { pulled, sent } = await search(COMPANIES, { filters }, () => ({
      json: { companies: [company(1)], total_display_count: '32K+' },
    }))
    expect(sent).toEqual([
      {
        filters: [
          { field: 'REGION', type: 'in', value: ['Germany'] },
          { field: 'INDUSTRY', type: 'in', value: ['Software Development'] },
          { field: 'COMPANY_HEADCOUNT', type: 'in', value: ['51-200'] },
        ],
        page: 1,
      },
    ])
    expect(pulled).toMatchObject({ keys: ['1'], total: null })
  })

  it('company_headquarters is another name of location', async () => {
    const filters = { company_headquarters: ['Germany'] }
    const { sent } = await search(COMPANIES, { filters }, () => ({ json: { companies: [company(1)] } }))
    expect(sent[0]?.['filters']).toEqual([{ field: 'REGION', type: 'in', value: ['Germany'] }])
    expect(await requestErrors(COMPANIES, { filters: { ...filters, location: ['France'] } })).toContain(
      'filters.company_headquarters is the same as location; give one of them',
    )
  })

  it('ends at the last page that Crustdata shows, and reports that there is more', async () => {
    const { pulled } = await search(COMPANIES, { filters: { keywords: ['data'] } }, (_seen, place) => ({
      json: { companies: several(25, company, place * 25 + 1), total_display_count: '15,000+' },
    }))
    expect(pulled).toMatchObject({ pages: 65, capped: true })
  })
})

describe('find_people_from_sales_navigator', () => {
  it('people have the fields of find_people, and their profile as key', async () => {
    const filters = { titles: ['CEO'], company_headquarters: ['Berlin, Germany'], seniority: ['CXO'] }
    const { pulled, seen, sent } = await search(PEOPLE, { filters }, () => ({
      json: { profiles: [person(1)] },
    }))
    expect(seen[0]?.path).toBe('/person/professional_network/search/live')
    expect(sent[0]?.['filters']).toEqual([
      { field: 'COMPANY_HEADQUARTERS', type: 'in', value: ['Berlin, Germany'] },
      { field: 'CURRENT_TITLE', type: 'in', value: ['CEO'] },
      { field: 'SENIORITY_LEVEL', type: 'in', value: ['CXO'] },
    ])
    expect(pulled.keys).toEqual(['https://www.linkedin.com/in/ann1'])
    expect(pulled.rows).toEqual([
      {
        full_name: 'Ann 1',
        title: 'CEO',
        company: 'Acme',
        domain: 'acme.com',
        linkedin_url: 'https://www.linkedin.com/in/ann1',
        location: 'Berlin, Germany',
      },
    ])
  })
})

describe('4.7 per-type validation returns 400 with a specific message', () => {
  const people = 'https://www.linkedin.com/sales/search/people?query=x'
  it.each([
    [{}, 'search_url required, unless filters has at least one filter'],
    [{ filters: {} }, 'search_url required, unless filters has at least one filter'],
    [{ search_url: people, filters: { titles: ['CEO'] } }, 'filters give search_url or filters, not both'],
    [
      { search_url: 'https://www.linkedin.com/sales/search/company?query=x' },
      'search_url must be the URL of a search',
    ],
    [
      { search_url: 'https://linkedin.com.evil.example/sales/search/people?query=x' },
      'search_url must be the URL of a search',
    ],
    [{ filters: { city: ['Berlin'] } }, 'filters.city'],
    [{ filters: { company_headcount: ['7'] } }, 'filters.company_headcount[0] '],
  ])('%j', async (body, words) => {
    expect(await requestErrors(PEOPLE, body)).toContain(words)
  })
})

describe('4.7 <sales_nav> types expose location and/or company_headquarters', () => {
  it.each([
    [COMPANIES, 'location'],
    [COMPANIES, 'company_headquarters'],
    [PEOPLE, 'location'],
    [PEOPLE, 'company_headquarters'],
  ])('%s %s by context.search', async (slug, field) => {
    const { origin, seen } = await serveDouble(() => ({
      json: { suggestions: [{ value: 'Berlin, Germany' }, { value: ' ' }, { value: 'Berlin, Germany' }] },
    }))
    const reply = await listOptions(slug, field, { search: 'Berl' }, { urls: { crustdata: origin } })
    expect(reply).toEqual({ ok: true, body: [{ value: 'Berlin, Germany', label: 'Berlin, Germany' }] })
    expect(seen[0]?.path).toBe('/person/search/autocomplete')
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ query: 'Berl' })
  })
})
