import { z } from 'zod'
import { WireNumber, WireText } from '../../catalog/provider/wire-fields.ts'
import { prospeo } from '../../catalog/providers/prospeo/provider.ts'
import { countryName } from '../companies/search.ts'
import { definePull } from '../pull.ts'
import { contentKey } from '../rows.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Prospeo's documentation of POST /search-person and public clients of it, read November 2026: filters with include,
// pages of 25, results[] of person and company, pagination; NO_RESULTS comes as a 400.
const Person = z.object({
  person_id: z.union([z.string(), z.number()]).nullish(),
  full_name: z.string(),
  current_job_title: WireText,
  headline: WireText,
  linkedin_url: WireText,
  location: z.object({ city: WireText, state: WireText, country: WireText }).nullish(),
})
const Company = z.object({ name: WireText, domain: WireText, website: WireText })
const Reply = z.object({
  results: z.array(z.object({ person: Person, company: Company.nullish() })),
  pagination: z.object({ total_page: WireNumber, total_count: WireNumber }).nullish(),
})
const PAGE = 25
/** 25,000 people of a search are shown. */
const MAX_PAGES = 1000
const State = z.object({ page: z.int().min(1) })

export const prospeoPeopleSearch = definePull(people, prospeo, {
  price: 1,
  state: State,
  async pull({ body, state, ask }) {
    if (body.keywords !== undefined)
      return { kind: 'ineligible', message: 'it does not search in profiles; leave out keywords' }
    const page = state?.page ?? 1
    const json = { page, filters: filtersOf(body) }
    const request = { method: 'POST', path: '/search-person', json } as const
    return ask(request, Reply, ({ results, pagination }) => {
      const isLast = results.length < PAGE || page >= (pagination?.total_page ?? MAX_PAGES)
      const total = pagination?.total_count ?? null
      return {
        records: results.map(recordOf),
        next: isLast || page >= MAX_PAGES ? null : { page: page + 1 },
        ...(total === null ? {} : { total, capped: total > PAGE * MAX_PAGES }),
      }
    })
  },
})

function recordOf({ person, company }: z.output<typeof Reply>['results'][number]) {
  const { city, state, country } = person.location ?? {}
  const row = {
    full_name: person.full_name,
    title: person.current_job_title ?? person.headline ?? null,
    company: company?.name ?? null,
    domain: company?.domain ?? URL.parse(company?.website ?? '')?.hostname.replace(/^www\./, '') ?? null,
    linkedin_url: person.linkedin_url ?? null,
    location: [city, state, country].filter(Boolean).join(', ') || null,
  }
  return { key: person.person_id ?? row.linkedin_url ?? contentKey(row, 'full_name', 'company'), row }
}

const LEVELS: Record<NonNullable<PeopleSearch['seniority']>[number], string> = {
  owner: 'Founder/Owner',
  founder: 'Founder/Owner',
  c_suite: 'C-Suite',
  partner: 'Partner',
  vp: 'Vice President',
  head: 'Head',
  director: 'Director',
  manager: 'Manager',
  senior: 'Senior',
  entry: 'Entry',
  intern: 'Intern',
}

function filtersOf({ titles, seniority, company_domains, countries }: PeopleSearch) {
  const levels = seniority?.map((level) => LEVELS[level])
  return {
    ...(titles === undefined ? {} : { person_job_title: { include: titles, match_mode: 'CONTAINS' } }),
    ...(levels === undefined ? {} : { person_seniority: { include: [...new Set(levels)] } }),
    ...(countries === undefined ? {} : { person_location_search: { include: countries.map(countryName) } }),
    ...(company_domains === undefined ? {} : { company: { websites: { include: company_domains } } }),
  }
}
