import { z } from 'zod'
import { WireNumber, WireText } from '../../../catalog/provider/wire-fields.ts'
import { crustdata } from '../../../catalog/providers/crustdata/provider.ts'
import { definePull } from '../../pull.ts'
import { companies, type CompanySearch, countryName } from './search.ts'

// Evidence: Crustdata's reference of POST /company/search (2025-11-01): conditions by field, sorts, fields, cursor, companies[].
const Company = z.object({
  crustdata_company_id: z.union([z.string(), z.number()]),
  basic_info: z.object({
    name: z.string(),
    primary_domain: WireText,
    professional_network_url: WireText,
    industries: z.array(z.string()).nullish(),
  }),
  headcount: z.object({ total: WireNumber }).nullish(),
  locations: z.object({ headquarters: WireText, hq_country: WireText, country: WireText }).nullish(),
  taxonomy: z.object({ professional_network_industry: WireText }).nullish(),
})
const Reply = z.object({ companies: z.array(Company), next_cursor: WireText, total_count: WireNumber })
const SECTIONS = ['crustdata_company_id', 'basic_info', 'headcount', 'locations', 'taxonomy']
const MAX_PAGE = 1000
/** The position. All pages of a walk have the same size. */
const State = z.object({ cursor: z.string(), size: z.int().min(1) })

export const crustdataCompanies = definePull(companies, crustdata, {
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    if (body.technologies !== undefined)
      return { kind: 'ineligible', message: 'it cannot search by technologies; leave out technologies' }
    const size = state?.size ?? Math.min(limit, MAX_PAGE)
    const json = {
      filters: { op: 'and', conditions: conditionsOf(body) },
      // Without an explicit order, records could move between pages.
      sorts: [{ column: 'crustdata_company_id', order: 'asc' }],
      fields: SECTIONS,
      limit: size,
      ...(state === null ? {} : { cursor: state.cursor }),
    }
    const request = { method: 'POST', path: '/company/search', json } as const
    return ask(request, Reply, ({ companies: found, next_cursor, total_count }) => ({
      records: found.map((company) => ({ key: company.crustdata_company_id, row: rowOf(company) })),
      next: next_cursor && found.length > 0 ? { cursor: next_cursor, size } : null,
      ...(typeof total_count === 'number' ? { total: total_count } : {}),
    }))
  },
})

function rowOf({ basic_info, headcount, locations, taxonomy }: z.output<typeof Company>) {
  return {
    name: basic_info.name,
    domain: basic_info.primary_domain ?? null,
    industry: taxonomy?.professional_network_industry ?? basic_info.industries?.[0] ?? null,
    employees: headcount?.total ?? null,
    country: locations?.hq_country ?? locations?.country ?? null,
    linkedin_url: basic_info.professional_network_url ?? null,
  }
}

function conditionsOf(body: CompanySearch) {
  const any = (field: string, values: readonly string[] = []) =>
    values.length === 0
      ? []
      : [{ op: 'or', conditions: values.map((value) => ({ field, type: '(.)', value })) }]
  const compare = (field: string, type: string, value: number | undefined) =>
    value === undefined ? [] : [{ field, type, value }]
  return [
    ...any('taxonomy.categories', body.keywords),
    ...any('taxonomy.professional_network_industry', body.industries),
    ...any('locations.headquarters', body.countries?.map(countryName)),
    ...compare('headcount.total', '=>', body.employees_min),
    ...compare('headcount.total', '=<', body.employees_max),
    ...compare('basic_info.year_founded', '>', body.founded_after),
  ]
}
