import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

const company = {
  name: 'Acme',
  domain: 'acme.com',
  industry: 'Software',
  employee_count: 120,
  country_code: 'DE',
  linkedin_url: 'https://www.linkedin.com/company/acme',
  num_jobs: 4,
}
const posting = (id: number, more: object = {}) => ({
  id,
  job_title: `Engineer ${id}`,
  company: 'Acme Inc',
  company_object: company,
  location: 'Berlin',
  url: `https://theirstack.example/${id}`,
  final_url: `https://acme.com/jobs/${id}`,
  date_posted: '2026-11-10',
  discovered_at: `2026-11-1${id % 10}T00:00:00`,
  salary_string: '60k',
  ...more,
})
type Walk = { slug?: string; state?: unknown; limit?: number }

async function search(
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  { slug = 'find_job_postings', ...walk }: Walk = {},
) {
  const { origin, seen } = await serveDouble(answer)
  const pulled = await pullSource(slug, body, { urls: { theirstack: origin }, ...walk })
  return { pulled, asked: seen.map((one) => JSON.parse(one.body) as Record<string, unknown>), seen }
}

describe('find_job_postings by TheirStack', () => {
  it('sends the documented request and reads all pages', async () => {
    const { pulled, asked, seen } = await search(
      {
        job_titles: ['engineer'],
        technologies: ['kafka'],
        job_technology_slug: ['spark'],
        company_technology_slug: ['snowflake'],
        countries: ['DE'],
        companies: ['acme.com', 'Bolt Works'],
        industry_id: ['4'],
        posted_within_days: 7,
      },
      (_seen, place) => ({
        json: { data: place === 0 ? [posting(1), posting(2)] : [posting(3)], metadata: { total_results: 3 } },
      }),
      { limit: 2 },
    )
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/jobs/search' })
    expect(seen[0]?.headers.authorization).toBe('Bearer a-key')
    expect(asked[0]).toEqual({
      job_title_or: ['engineer'],
      job_technology_slug_or: ['kafka', 'spark'],
      company_technology_slug_or: ['snowflake'],
      job_country_code_or: ['DE'],
      company_domain_or: ['acme.com'],
      company_name_or: ['Bolt Works'],
      industry_id_or: [4],
      posted_at_max_age_days: 7,
      order_by: [{ field: 'date_posted', desc: true }],
      include_total_results: true,
      page: 0,
      limit: 2,
    })
    expect(asked[1]).toMatchObject({ page: 1, limit: 2 })
    expect(pulled).toMatchObject({ keys: ['1', '2', '3'], total: 3, refusal: null })
    expect(pulled.rows[0]).toEqual({
      title: 'Engineer 1',
      company: 'Acme',
      domain: 'acme.com',
      location: 'Berlin',
      url: 'https://acme.com/jobs/1',
      posted_at: '2026-11-10',
      salary: '60k',
    })
  })

  it('returns the name of a company if TheirStack knows only its name', async () => {
    const { pulled, asked } = await search({}, () => ({
      json: { data: [posting(1, { company_object: null, final_url: null, location: null })] },
    }))
    expect(asked[0]).toMatchObject({ posted_at_max_age_days: 30 })
    expect(pulled.rows[0]).toMatchObject({
      company: 'Acme Inc',
      domain: null,
      location: null,
      url: 'https://theirstack.example/1',
    })
  })

  it('says how to read boards if they are requested from TheirStack', async () => {
    const { pulled, seen } = await search({ boards: ['greenhouse:acme'] }, () => ({}))
    expect(pulled.refusal).toMatchObject({ kind: 'ineligible' })
    expect(seen).toEqual([])
  })

  it.each([
    [{ status: 401, json: {} }, { kind: 'unconfigured' }],
    [{ status: 402, json: {} }, { kind: 'no_credits' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', afterMs: 7000 },
    ],
    [{ status: 503 }, { kind: 'error', transient: true }],
    [{ json: { data: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await search({ job_titles: ['a'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{ countries: ['Germany'] }, 'countries[0] must be two capital letters, such as US'],
    [{ job_titles: [] }, 'job_titles'],
    [{ posted_within_days: 0 }, 'posted_within_days'],
    [{ industry_id: ['software'] }, 'industry_id[0]'],
    [{ job_title: ['a'] }, 'job_title not accepted; find_job_postings takes: job_titles'],
    [{ schedule: 'daily' }, 'schedule not accepted'],
  ])('refuses %j by name', async (body, words) => {
    expect(await requestErrors('find_job_postings', body)).toContain(words)
  })
})

describe('track_job_postings by TheirStack', () => {
  const track = (answer: (seen: Seen, place: number) => Reply, state?: unknown) =>
    search({ job_titles: ['engineer'] }, answer, { slug: 'track_job_postings', state, limit: 2 })

  it('requests what was found since the previous pull, in any order of pages', async () => {
    const { pulled, asked } = await track(
      (_seen, place) => ({ json: { data: place === 0 ? [posting(7), posting(5)] : [posting(6)] } }),
      { since: '2026-11-14T00:00:00' },
    )
    expect(asked.map((one) => one['discovered_at_gte'])).toEqual([
      '2026-11-14T00:00:00',
      '2026-11-14T00:00:00',
    ])
    expect(pulled.resume).toEqual({ page: 0, since: '2026-11-17T00:00:00' })
  })

  it('keeps its position if nothing is new', async () => {
    const { pulled } = await track(() => ({ json: { data: [] } }), { since: '2026-11-14T00:00:00' })
    expect(pulled).toMatchObject({ rows: [], resume: { since: '2026-11-14T00:00:00' } })
  })
})
