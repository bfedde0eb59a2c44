import { z } from 'zod'
import { theirstack } from '../../../catalog/providers/theirstack/provider.ts'
import { definePull } from '../../pull.ts'
import { companyFields, countries, days, words } from '../../search-body.ts'
import { defineShape } from '../../shape.ts'
import { askedJobs, Posting } from './jobs.ts'
import {
  Company,
  companyKey,
  companyRow,
  Metadata,
  nextPage,
  pageOf,
  PageState,
  Text,
  readTotal,
} from './reply.ts'

export const usersOfTechnologies = defineShape({
  body: {
    technologies: words(
      'Technologies that the company uses: slugs of TheirStack (see the option company_technology_slug), names of BuiltWith',
    ),
    countries,
    first_seen_after: z.iso
      .date('must be a date, such as 2026-01-31')
      .describe('First found after this day')
      .optional(),
  },
  row: z.object({ ...companyFields, technology: z.string().nullable(), first_seen: z.string().nullable() }),
})

const Found = z.object({
  technology: z.object({ slug: Text, name: Text }).nullish(),
  first_date_found: Text,
})
const UsersReply = z.object({
  data: z.array(Company.extend({ technologies_found: z.array(Found).nullish() })),
  metadata: Metadata,
})

export const theirstackUsers = definePull(usersOfTechnologies, theirstack, {
  price: 1,
  state: PageState,
  async pull({ body, state, limit, ask }) {
    const at = pageOf(state, limit)
    const json = {
      company_technology_slug_or: body.technologies,
      ...(body.countries === undefined ? {} : { company_country_code_or: body.countries }),
      include_total_results: true,
      page: at.page,
      limit: at.size,
    }
    return ask({ method: 'POST', path: '/v1/companies/search', json }, UsersReply, ({ data, metadata }) => ({
      records: data
        .map((company) => ({ company, found: company.technologies_found?.[0] }))
        .filter(({ found }) => isLater(found?.first_date_found, body.first_seen_after))
        .map(({ company, found }) => ({
          key: companyKey(company),
          row: {
            ...companyRow(company),
            technology: found?.technology?.name ?? found?.technology?.slug ?? body.technologies[0] ?? null,
            first_seen: found?.first_date_found ?? null,
          },
        })),
      next: nextPage(at, data.length),
      ...readTotal(metadata),
    }))
  },
})

export const isLater = (date: string | null | undefined, after: string | undefined): boolean =>
  after === undefined || (date ?? '').slice(0, 10) > after

export const hiringCompanies = defineShape({
  body: {
    job_titles: words('Job titles; any of them matches'),
    countries,
    posted_within_days: days('Age of the posting; default 30'),
    boards: words('Job boards that can be read without a key: greenhouse:acme, or their URLs').optional(),
  },
  row: z.object({
    ...companyFields,
    open_roles: z.number().nullable(),
    latest_posting: z.string().nullable(),
  }),
})

/**
 * The position. Postings come newest first; a company is returned with its newest posting only. `told` has the
 * companies already returned.
 */
const HiringState = PageState.extend({ told: z.array(z.string()) })
const MAX_TOLD = 5000
const HiringReply = z.object({ data: z.array(Posting), metadata: Metadata })

export const theirstackHiring = definePull(hiringCompanies, theirstack, {
  price: 1,
  state: HiringState,
  async pull({ body, state, limit, ask }) {
    const { boards, ...filters } = body
    if (boards !== undefined)
      return { kind: 'ineligible', message: 'boards are read without TheirStack; set provider to built_in' }
    const at = { ...pageOf(state, limit), told: state?.told ?? [] }
    const json = { ...askedJobs(filters), page: at.page, limit: at.size }
    return ask({ method: 'POST', path: '/v1/jobs/search', json }, HiringReply, ({ data }) => {
      const told = new Set(at.told)
      const records = data.flatMap(({ company_object: company, date_posted }) => {
        if (!company || told.has(companyKey(company))) return []
        told.add(companyKey(company))
        const row = {
          ...companyRow(company),
          open_roles: company.num_jobs ?? null,
          latest_posting: date_posted ?? null,
        }
        return [{ key: companyKey(company), row }]
      })
      const next = nextPage(at, data.length)
      return { records, next: next === null ? null : { ...next, told: [...told].slice(-MAX_TOLD) } }
    })
  },
})
