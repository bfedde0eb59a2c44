import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { apollo } from '../../../catalog/providers/apollo/provider.ts'
import { definePull } from '../../pull.ts'
import { companies, type CompanySearch, countryName } from './search.ts'

// Evidence: Apollo's reference of mixed_companies/search (parameters are read from the address) and organizations/bulk_enrich
// (10 at most, in the body), and public clients.
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

/** One call returns the details of this many companies. */
const MAX_PAGE = 10
const Details = z.object({ organizations: z.array(Organization.nullable()).nullish() })
/** The maximum number of pages that Apollo shows. */
const MAX_PAGES = 500
const State = z.object({ page: z.int().min(1), size: z.int().min(1).max(MAX_PAGE) })

export const apolloCompanies = definePull(companies, apollo, {
  // The search has no industry, size or country. They cost a credit at Apollo.
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    const { page, size } = state ?? { page: 1, size: Math.min(limit, MAX_PAGE) }
    const query = { ...filtersOf(body), page, per_page: size }
    const request = { method: 'POST', path: '/api/v1/mixed_companies/search', query } as const
    const searched = await ask(request, Reply, (reply) => ({ reply }))
    if ('kind' in searched) return searched
    const { pagination, organizations, accounts } = searched.reply
    const saved = (accounts ?? []).map(({ organization_id, domain, ...account }) => ({
      ...account,
      id: organization_id ?? account.id,
      primary_domain: account.primary_domain ?? domain,
    }))
    const found = [...saved, ...(organizations ?? [])]
    const pages = pagination?.total_pages ?? 0
    const total = pagination?.total_entries ?? null
    const detailed = await addDetails(ask, found)
    if ('kind' in detailed) return detailed
    return {
      records: detailed
        .filter(({ founded_year }) => isYounger(founded_year, body.founded_after))
        .map((one) => ({ key: one.id, row: toRow(one) })),
      next: found.length === 0 || page >= Math.min(pages, MAX_PAGES) ? null : { page: page + 1, size },
      capped: page >= MAX_PAGES && pages > MAX_PAGES,
      ...(total === null ? {} : { total }),
    }
  },
})

type Company = z.output<typeof Organization>

const domainOf = (one: Company): string | null => one.primary_domain ?? hostOf(one.website_url)

const lacksDetails = ({ industry, estimated_num_employees, country }: Company): boolean =>
  !industry && typeof estimated_num_employees !== 'number' && !country

/** Fills what the search does not return. A company that Apollo knows no more about stays as it is. */
async function addDetails(ask: Ask, found: Company[]): Promise<Company[] | Refusal> {
  const domains = found
    .filter(lacksDetails)
    .flatMap((one) => domainOf(one) ?? [])
    .slice(0, MAX_PAGE)
  if (domains.length === 0) return found
  const path = '/api/v1/organizations/bulk_enrich'
  const details = await ask({ method: 'POST', path, json: { domains } }, Details, ({ organizations }) => ({
    organizations: (organizations ?? []).filter((one) => one !== null),
  }))
  if ('kind' in details) return details
  const byDomain = new Map(details.organizations.map((one) => [domainOf(one), one]))
  return found.map((one) => {
    const more = lacksDetails(one) ? byDomain.get(domainOf(one)) : undefined
    if (more === undefined) return one
    const { industry, estimated_num_employees, country, founded_year } = more
    return {
      ...one,
      industry,
      estimated_num_employees,
      country,
      founded_year: one.founded_year ?? founded_year,
    }
  })
}

const toRow = (one: Company) => ({
  name: one.name,
  domain: domainOf(one),
  industry: one.industry ?? null,
  employees: one.estimated_num_employees ?? null,
  country: one.country ?? null,
  linkedin_url: one.linkedin_url ?? null,
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
