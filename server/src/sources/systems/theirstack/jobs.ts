import { z } from 'zod'
import { theirstack } from '../../../catalog/providers/theirstack/provider.ts'
import { definePull } from '../../pull.ts'
import { countries, days, words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'
import { Company, MAX_PAGE, Metadata, nextPage, Text, readTotal } from './reply.ts'

export const jobs = defineShape({
  body: {
    job_titles: words('Job titles; any of them matches').optional(),
    technologies: words(
      'Technologies named in the posting, by slug: see the options of job_technology_slug',
    ).optional(),
    countries,
    companies: words('Companies, by name or domain').optional(),
    posted_within_days: days('Age of the posting; default 30'),
    job_technology_slug: words('Same as technologies').optional(),
    company_technology_slug: words('Technologies that the company uses, by slug').optional(),
    industry_id: z
      .array(z.union([z.int(), z.string().regex(/^\d+$/)]))
      .min(1)
      .max(100)
      .describe('Industries of the company')
      .optional(),
    boards: words('Job boards that can be read without a key: greenhouse:acme, or their URLs').optional(),
  },
  row: z.object({
    title: z.string(),
    company: z.string().nullable(),
    domain: z.string().nullable(),
    location: z.string().nullable(),
    url: z.string().nullable(),
    posted_at: z.string().nullable(),
    salary: z.string().nullable(),
  }),
})

const DEFAULT_DAYS = 30

/** Returns the request to TheirStack for the filters that all searches for postings share. */
export function askedJobs(body: Omit<BodyOf<typeof jobs.body>, 'boards'>): Record<string, unknown> {
  const domains = (body.companies ?? []).filter((name) => /^[\w-]+(\.[\w-]+)+$/.test(name))
  const names = (body.companies ?? []).filter((name) => !domains.includes(name))
  const technologies = [...(body.technologies ?? []), ...(body.job_technology_slug ?? [])]
  const given = {
    job_title_or: body.job_titles,
    job_technology_slug_or: technologies,
    company_technology_slug_or: body.company_technology_slug,
    job_country_code_or: body.countries,
    company_domain_or: domains,
    company_name_or: names,
    industry_id_or: body.industry_id?.map(Number),
  }
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, list]) => list !== undefined && list.length > 0)),
    // TheirStack refuses a search without a time.
    posted_at_max_age_days: body.posted_within_days ?? DEFAULT_DAYS,
    order_by: [{ field: 'date_posted', desc: true }],
    include_total_results: true,
  }
}

export const Posting = z.object({
  id: z.union([z.string(), z.number()]),
  job_title: z.string(),
  company: Text,
  company_object: Company.nullish(),
  location: Text,
  short_location: Text,
  url: Text,
  final_url: Text,
  date_posted: Text,
  discovered_at: Text,
  salary_string: Text,
})
const Reply = z.object({ data: z.array(Posting), metadata: Metadata })

/**
 * The position. TheirStack charges a posting each time it returns it, so a later pull only requests postings found
 * since the previous one.
 */
const State = z.object({
  page: z.int().min(0).default(0),
  size: z.int().min(1).optional(),
  since: z.string().optional(),
  newest: z.string().optional(),
})

export const theirstackJobs = definePull(jobs, theirstack, {
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    const { boards, ...filters } = body
    if (boards !== undefined)
      return { kind: 'ineligible', message: 'boards are read without TheirStack; set provider to built_in' }
    const { page, size, since, newest: known } = state ?? { page: 0 }
    const at = { page, size: size ?? Math.min(limit, MAX_PAGE) }
    const json = {
      ...askedJobs(filters),
      ...(since === undefined ? {} : { discovered_at_gte: since }),
      page: at.page,
      limit: at.size,
    }
    return ask({ method: 'POST', path: '/v1/jobs/search', json }, Reply, ({ data, metadata }) => {
      const next = nextPage(at, data.length)
      const newest = data
        .flatMap(({ discovered_at }) => discovered_at ?? [])
        .reduce(later, known ?? since ?? '')
      const walk = { ...(since === undefined ? {} : { since }), ...(newest === '' ? {} : { newest }) }
      return {
        records: data.map(toRecord),
        next: next === null ? null : { ...walk, ...next },
        ...(newest === '' ? {} : { resume: { page: 0, since: newest } }),
        ...readTotal(metadata),
      }
    })
  },
  skipExisting: (at) => ({ page: 0, since: at.toISOString() }),
})

const later = (one: string, other: string): string => (other > one ? other : one)

const toRecord = (job: z.output<typeof Posting>) => ({
  key: job.id,
  row: {
    title: job.job_title,
    company: job.company_object?.name ?? job.company ?? null,
    domain: job.company_object?.domain ?? null,
    location: job.location ?? job.short_location ?? null,
    url: job.final_url ?? job.url ?? null,
    posted_at: job.date_posted ?? null,
    salary: job.salary_string ?? null,
  },
})
