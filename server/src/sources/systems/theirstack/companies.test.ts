import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

const company = (domain: string | null, more: object = {}) => ({
  name: `Company ${domain}`,
  domain,
  industry: 'Software',
  employee_count: 120,
  country_code: 'DE',
  linkedin_url: null,
  num_jobs: 4,
  ...more,
})

async function search(
  slug: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  limit = 2,
) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(slug, body, { urls: { theirstack: origin }, limit })
  return { pulled, seen, asked: seen.map((one) => JSON.parse(one.body) as Record<string, unknown>) }
}

describe('find_companies_by_tech_stack', () => {
  const found = (name: string, first_date_found: string) => ({
    technologies_found: [{ technology: { slug: name.toLowerCase(), name }, first_date_found }],
  })

  it('sends the documented request, reads all pages, and leaves out what was found earlier', async () => {
    const { pulled, asked, seen } = await search(
      'find_companies_by_tech_stack',
      { technologies: ['kafka'], countries: ['DE'], first_seen_after: '2026-01-31' },
      (_seen, place) => ({
        json: {
          data:
            place === 0
              ? [
                  company('a.com', found('Kafka', '2026-03-01')),
                  company('b.com', found('Kafka', '2026-01-31')),
                ]
              : [company(null, found('Kafka', '2026-02-01'))],
          metadata: { total_results: 3 },
        },
      }),
    )
    expect(seen.map(({ path }) => path)).toEqual(['/v1/companies/search', '/v1/companies/search'])
    expect(asked[1]).toEqual({
      company_technology_slug_or: ['kafka'],
      company_country_code_or: ['DE'],
      include_total_results: true,
      page: 1,
      limit: 2,
    })
    expect(pulled).toMatchObject({ keys: ['a.com', 'name company null'], total: 3, refusal: null })
    expect(pulled.rows[0]).toEqual({
      name: 'Company a.com',
      domain: 'a.com',
      industry: 'Software',
      employees: 120,
      country: 'DE',
      linkedin_url: null,
      technology: 'Kafka',
      first_seen: '2026-03-01',
    })
  })

  it.each([
    [{}, 'technologies required'],
    [
      { technologies: ['kafka'], first_seen_after: 'yesterday' },
      'first_seen_after must be a date, such as 2026-01-31',
    ],
  ])('refuses %j by name', async (body, words) => {
    expect(await requestErrors('find_companies_by_tech_stack', body)).toContain(words)
  })

  it('passes on a refusal of TheirStack', async () => {
    const { pulled } = await search('find_companies_by_tech_stack', { technologies: ['kafka'] }, () => ({
      status: 402,
    }))
    expect(pulled.refusal).toMatchObject({ kind: 'no_credits' })
  })
})

describe('find_companies_hiring by TheirStack', () => {
  const posting = (id: number, domain: string | null) => ({
    id,
    job_title: 'Engineer',
    company_object: domain === null ? null : company(domain),
    date_posted: `2026-11-${20 - id}`,
  })

  it('returns each company once, with its newest posting, over all pages', async () => {
    const pages = [
      [posting(1, 'a.com'), posting(2, 'a.com')],
      [posting(3, 'a.com'), posting(4, null)],
      [posting(5, 'b.com')],
    ]
    const { pulled, asked } = await search(
      'find_companies_hiring',
      { job_titles: ['engineer'], countries: ['DE'], posted_within_days: 5 },
      (_seen, place) => ({ json: { data: pages[place] ?? [] } }),
    )
    expect(asked[0]).toMatchObject({
      job_title_or: ['engineer'],
      job_country_code_or: ['DE'],
      posted_at_max_age_days: 5,
      page: 0,
    })
    expect(pulled).toMatchObject({ keys: ['a.com', 'b.com'], refusal: null, note: null })
    expect(pulled.rows[0]).toMatchObject({
      name: 'Company a.com',
      employees: 120,
      open_roles: 4,
      latest_posting: '2026-11-19',
    })
  })

  it('needs titles', async () => {
    await expect(pullSource('find_companies_hiring', {})).rejects.toMatchObject({
      details: { errors: [{ field: 'job_titles', message: 'required' }] },
    })
  })
})
