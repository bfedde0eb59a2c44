import { z } from 'zod'
import { apollo } from '../../../catalog/providers/apollo/provider.ts'
import { definePull } from '../../pull.ts'
import { companies, type CompanySearch, countryName } from './search.ts'

// Evidence: Apollo's reference of mixed_companies/search and public clients; parameters are read from the address.
const Text = z.string().nullish()
const Organization = z.object({
  id: z.string(),
  name: z.string(),
  primary_domain: Text,
  website_url: Text,
  industry: Text,
  estimated_num_employees: z.number().nullish(),
  country: Text,
  linkedin_url: Text,
  founded_year: z.number().nullish(),
})
const Reply = z.object({
  organizations: z.array(Organization).nullish(),
  /** The companies that the account has saved. They are not among the others. */
  accounts: z.array(Organization.extend({ organization_id: Text, domain: Text })).nullish(),
  pagination: z.object({ total_entries: z.number().nullish(), total_pages: z.number().nullish() }).nullish(),
})

const MAX_PAGE = 100
/** The maximum number of pages that Apollo shows. */
const MAX_PAGES = 500
const State = z.object({ page: z.int().min(1), size: z.int().min(1) })

export const apolloCompanies = definePull(companies, apollo, {
  price: 0.5,
  state: State,
  pull({ body, state, limit, ask }) {
    const { page, size } = state ?? { page: 1, size: Math.min(limit, MAX_PAGE) }
    const query = { ...filtersOf(body), page, per_page: size }
    const request = { method: 'POST', path: '/api/v1/mixed_companies/search', query } as const
    return ask(request, Reply, ({ organizations, accounts, pagination }) => {
      const saved = (accounts ?? []).map(({ organization_id, domain, ...account }) => ({
        ...account,
        id: organization_id ?? account.id,
        primary_domain: account.primary_domain ?? domain,
      }))
      const found = [...saved, ...(organizations ?? [])]
      const pages = pagination?.total_pages ?? 0
      const total = pagination?.total_entries ?? null
      return {
        records: found
          .filter(({ founded_year }) => isYounger(founded_year, body.founded_after))
          .map((one) => ({
            key: one.id,
            row: {
              name: one.name,
              domain: one.primary_domain ?? hostOf(one.website_url),
              industry: one.industry ?? null,
              employees: one.estimated_num_employees ?? null,
              country: one.country ?? null,
              linkedin_url: one.linkedin_url ?? null,
            },
          })),
        next: found.length === 0 || page >= Math.min(pages, MAX_PAGES) ? null : { page: page + 1, size },
        capped: page >= MAX_PAGES && pages > MAX_PAGES,
        ...(total === null ? {} : { total }),
      }
    })
  },
})

function filtersOf(body: CompanySearch) {
  const { employees_min: min, employees_max: max } = body
  const tags = [...(body.keywords ?? []), ...(body.industries ?? [])]
  return {
    'q_organization_keyword_tags[]': tags,
    'organization_locations[]': (body.countries ?? []).map(countryName),
    'organization_num_employees_ranges[]':
      min === undefined && max === undefined ? [] : [`${min ?? 1},${max ?? 10_000_000}`],
    'currently_using_any_of_technology_uids[]': (body.technologies ?? []).map((name) =>
      name.toLowerCase().replace(/[\s.]+/g, '_'),
    ),
  }
}

const isYounger = (year: number | null | undefined, after: number | undefined): boolean =>
  after === undefined || (year ?? 0) > after

const hostOf = (address: string | null | undefined): string | null =>
  URL.parse(address ?? '')?.hostname.replace(/^www\./, '') ?? null
