import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../catalog/testing/provider-double.ts'
import { pullSource } from './testing/pull-source.ts'

type Contract = {
  slug: string
  provider: string
  /** The body of a request for two pages. */
  body: Record<string, unknown>
  limit?: number
  pages: object[]
  /** The expected calls: the path with its query or body. */
  asks: object[]
  keys: string[]
  total: number | null
  first: Record<string, unknown>
  /** The provider's reply for no match. */
  miss: Reply
  badKey: Reply
  usedUp: Reply
  malformed: Reply
  /** A body with a field that the provider does not support. */
  refuses: Record<string, unknown> | null
}

const site = (D: string, FD: number) => ({
  D,
  FD,
  META: {
    CompanyName: `Site ${D}`,
    Vertical: 'Shopping',
    Country: 'UK',
    Social: ['http://linkedin.com/company/x'],
  },
})
const crustdataCompany = (id: number) => ({
  crustdata_company_id: id,
  basic_info: {
    name: `Company ${id}`,
    primary_domain: `${id}.com`,
    professional_network_url: `https://l/${id}`,
  },
  headcount: { total: 120 },
  locations: { hq_country: 'DEU' },
  taxonomy: { professional_network_industry: 'Software Development' },
})
const prospeoResult = (id: number) => ({
  person: {
    person_id: `p${id}`,
    full_name: `Ann ${id}`,
    current_job_title: 'CTO',
    linkedin_url: `https://www.linkedin.com/in/${id}`,
    location: { city: 'Berlin', state: null, country: 'Germany' },
  },
  company: { name: 'Acme', domain: 'acme.com' },
})
const theirstackCompany = (domain: string) => ({
  name: `Company ${domain}`,
  domain,
  industry: 'Software',
  employee_count: 120,
  country_code: 'DE',
  linkedin_url: null,
})
const people = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => prospeoResult(from + n))

const CONTRACTS: Contract[] = [
  {
    slug: 'find_companies_by_tech_stack',
    provider: 'builtwith',
    body: {
      technologies: ['Google Analytics', 'Shopify'],
      countries: ['GB', 'DE'],
      first_seen_after: '2026-01-01',
    },
    pages: [
      { Results: [site('a.com', 1_770_000_000_000), site('old.com', 1_500_000_000)], NextOffset: 'o1' },
      { Results: [site('b.com', 1_770_000_000)], NextOffset: 'END' },
      { Results: [site('a.com', 1_770_000_000)], NextOffset: 'END' },
    ],
    asks: [
      {
        path: '/lists12/api.json',
        query: { TECH: 'Google-Analytics', META: 'yes', COUNTRY: 'UK,DE', KEY: 'a-key' },
      },
      { query: { TECH: 'Google-Analytics', OFFSET: 'o1' } },
      { query: { TECH: 'Shopify' } },
    ],
    keys: ['a.com Google Analytics', 'b.com Google Analytics', 'a.com Shopify'],
    total: null,
    first: {
      name: 'Site a.com',
      domain: 'a.com',
      industry: 'Shopping',
      employees: null,
      country: 'UK',
      linkedin_url: 'http://linkedin.com/company/x',
      technology: 'Google Analytics',
      first_seen: '2026-02-02',
    },
    miss: { json: { Results: [], NextOffset: 'END' } },
    badKey: { json: { Errors: [{ Message: 'Your API Key is invalid' }] } },
    usedUp: { json: { Errors: [{ Message: 'You have no API credits left' }] } },
    malformed: { json: { Results: 'many' } },
    refuses: null,
  },
  {
    slug: 'find_companies',
    provider: 'crustdata',
    body: {
      keywords: ['data'],
      industries: ['software'],
      countries: ['DE'],
      employees_min: 50,
      employees_max: 500,
      founded_after: 2015,
    },
    pages: [
      { companies: [crustdataCompany(1), crustdataCompany(2)], next_cursor: 'c1', total_count: 3 },
      { companies: [crustdataCompany(3)], next_cursor: null, total_count: 3 },
    ],
    asks: [
      {
        path: '/company/search',
        body: {
          filters: {
            op: 'and',
            conditions: [
              { op: 'or', conditions: [{ field: 'taxonomy.categories', type: '(.)', value: 'data' }] },
              {
                op: 'or',
                conditions: [
                  { field: 'taxonomy.professional_network_industry', type: '(.)', value: 'software' },
                ],
              },
              { op: 'or', conditions: [{ field: 'locations.headquarters', type: '(.)', value: 'Germany' }] },
              { field: 'headcount.total', type: '=>', value: 50 },
              { field: 'headcount.total', type: '=<', value: 500 },
              { field: 'basic_info.year_founded', type: '>', value: 2015 },
            ],
          },
          sorts: [{ column: 'crustdata_company_id', order: 'asc' }],
          limit: 2,
        },
      },
      { body: { cursor: 'c1', limit: 2 } },
    ],
    keys: ['1', '2', '3'],
    total: 3,
    first: {
      name: 'Company 1',
      domain: '1.com',
      industry: 'Software Development',
      employees: 120,
      country: 'DEU',
      linkedin_url: 'https://l/1',
    },
    miss: { json: { companies: [], next_cursor: null, total_count: 0 } },
    badKey: { status: 401 },
    usedUp: { status: 402 },
    malformed: { json: { companies: {} } },
    refuses: { technologies: ['Kafka'] },
  },
  {
    slug: 'find_people',
    provider: 'prospeo',
    body: {
      titles: ['CTO'],
      seniority: ['owner', 'founder', 'vp'],
      company_domains: ['acme.com'],
      countries: ['DE'],
    },
    pages: [
      { results: people(1, 25), pagination: { current_page: 1, total_page: 2, total_count: 26 } },
      { results: people(26, 1), pagination: { current_page: 2, total_page: 2, total_count: 26 } },
    ],
    asks: [
      {
        path: '/search-person',
        headers: { 'x-key': 'a-key' },
        body: {
          page: 1,
          filters: {
            person_job_title: { include: ['CTO'], match_only_exact_job_titles: false },
            person_seniority: { include: ['Founder/Owner', 'Vice President'] },
            person_location_search: { include: ['Germany'] },
            company: { websites: { include: ['acme.com'] } },
          },
        },
      },
      { body: { page: 2 } },
    ],
    keys: Array.from({ length: 26 }, (_, n) => `p${n + 1}`),
    total: 26,
    first: {
      full_name: 'Ann 1',
      title: 'CTO',
      company: 'Acme',
      domain: 'acme.com',
      linkedin_url: 'https://www.linkedin.com/in/1',
      location: 'Berlin, Germany',
    },
    miss: { status: 400, json: { error: true, error_code: 'NO_RESULTS' } },
    badKey: { status: 400, json: { error: true, error_code: 'INVALID_API_KEY' } },
    usedUp: { status: 400, json: { error: true, error_code: 'INSUFFICIENT_CREDITS' } },
    malformed: { json: { results: null } },
    refuses: { keywords: ['cloud'] },
  },
  {
    slug: 'find_companies_by_buying_intent',
    provider: 'theirstack',
    body: { topics: ['cloud-security', 'crm'], countries: ['DE'] },
    pages: [
      { data: [theirstackCompany('a.com'), theirstackCompany('b.com')] },
      { data: [] },
      { data: [theirstackCompany('a.com')] },
    ],
    asks: [
      {
        path: '/v1/companies/search',
        body: {
          company_keyword_slug_or: ['cloud-security'],
          company_country_code_or: ['DE'],
          page: 0,
          limit: 2,
        },
      },
      { body: { company_keyword_slug_or: ['cloud-security'], page: 1 } },
      { body: { company_keyword_slug_or: ['crm'], page: 0 } },
    ],
    keys: ['a.com cloud-security', 'b.com cloud-security', 'a.com crm'],
    total: null,
    first: {
      name: 'Company a.com',
      domain: 'a.com',
      industry: 'Software',
      employees: 120,
      country: 'DE',
      linkedin_url: null,
      topic: 'cloud-security',
      score: null,
    },
    miss: { json: { data: [], metadata: null } },
    badKey: { status: 401 },
    usedUp: { status: 402 },
    malformed: { json: { data: { a: 1 } } },
    refuses: { level: 'high' },
  },
]

type Answer = (seen: Seen, place: number) => Reply

async function pullBy(
  { slug, provider, body }: Contract,
  answer: Answer,
  more: Record<string, unknown> = {},
) {
  const { origin, seen } = await serveDouble(answer)
  const asked = { ...body, ...more, provider }
  const pulled = await pullSource(slug, asked, { urls: { [provider]: origin }, limit: 2 })
  return { pulled, seen }
}

describe.each(CONTRACTS)('$slug by $provider', (contract) => {
  const pull = (answer: Answer) => pullBy(contract, answer)

  it('sends the documented request and reads all pages', async () => {
    const { pulled, seen } = await pull((_seen, n) => ({ json: contract.pages[n] ?? {} }))
    const said = seen.map((one) => ({
      ...one,
      body: one.body === '' ? null : (JSON.parse(one.body) as unknown),
    }))
    expect(said).toMatchObject(contract.asks)
    expect(pulled).toMatchObject({ keys: contract.keys, total: contract.total, refusal: null, skipped: 0 })
    expect(pulled.rows[0]).toEqual(contract.first)
  })

  it('no match is not an error', async () => {
    const { pulled } = await pull(() => contract.miss)
    expect(pulled).toMatchObject({ rows: [], refusal: null })
  })

  it.each<[string, Reply, object]>([
    ['a refused key', contract.badKey, { kind: 'unconfigured' }],
    ['a used up account', contract.usedUp, { kind: 'no_credits' }],
    ['429', { status: 429, headers: { 'retry-after': '3' } }, { kind: 'rate_limited', afterMs: 3000 }],
    ['5xx', { status: 503 }, { kind: 'error', transient: true }],
    ['another shape', contract.malformed, { kind: 'error', transient: false }],
    ['no JSON', { text: '<html>' }, { kind: 'error', transient: false }],
  ])('passes on %s', async (_, reply, refusal) => {
    expect((await pull(() => reply)).pulled.refusal).toMatchObject(refusal)
  })
})

const REFUSALS = CONTRACTS.flatMap((contract) =>
  Object.entries(contract.refuses ?? {}).map(([field, value]) => ({ contract, field, value })),
)

it.each(REFUSALS)(
  '$contract.slug by $contract.provider says that it cannot take $field, and asks nothing',
  async ({ contract, field, value }) => {
    const { pulled, seen } = await pullBy(contract, () => ({ json: {} }), { [field]: value })
    expect([pulled.refusal, seen.length]).toEqual([
      { kind: 'ineligible', message: expect.stringContaining(field) },
      0,
    ])
  },
)
