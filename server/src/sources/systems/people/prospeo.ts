import { z } from 'zod'
import { prospeo } from '../../../catalog/providers/prospeo/provider.ts'
import { filtersOf, presentOf, SEARCH_PATH, SearchReply } from '../../../catalog/providers/prospeo/search.ts'
import { definePull } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { countryName } from '../companies/search.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Prospeo's documentation of POST /search-person and public clients of it, read November 2026: filters with include,
// pages of 25, results[] of person and company, pagination; NO_RESULTS comes as a 400.
const PAGE = 25
/** The maximum number of pages: Prospeo shows 25,000 people of a search. */
const MAX_PAGES = 1000
const State = z.object({ page: z.int().min(1) })

export const prospeoPeopleSearch = definePull(people, prospeo, {
  price: 1,
  state: State,
  async pull({ body, state, ask }) {
    if (body.keywords !== undefined)
      return { kind: 'ineligible', message: 'it cannot search by keywords; leave out keywords' }
    const page = state?.page ?? 1
    const json = { page, filters: searchFilters(body) }
    const request = { method: 'POST', path: SEARCH_PATH, json } as const
    return ask(request, SearchReply, ({ results, pagination }) => {
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

function recordOf(found: z.output<typeof SearchReply>['results'][number]) {
  const { person, company } = found
  const domain = company?.domain ?? URL.parse(company?.website ?? '')?.hostname.replace(/^www\./, '') ?? null
  const row = { ...presentOf(found), domain }
  return { key: person.person_id ?? row.linkedin_url ?? contentKey(row, 'full_name', 'company'), row }
}

function searchFilters({ titles, seniority, company_domains, countries }: PeopleSearch) {
  return {
    ...filtersOf({ titles: titles ?? [], seniority: seniority ?? [], domains: company_domains ?? [] }),
    ...(countries === undefined ? {} : { person_location_search: { include: countries.map(countryName) } }),
  }
}
