import { z } from 'zod'
import { BulkMatchReply, bulkMatchRequest, MAX_MATCHES } from '../../../catalog/providers/apollo/match.ts'
import { apollo } from '../../../catalog/providers/apollo/provider.ts'
import { readSearch, SEARCH_PATH, SearchReply } from '../../../catalog/providers/apollo/search.ts'
import { placeOf } from '../../../catalog/questions/place.ts'
import { definePull } from '../../pull.ts'
import { countryName } from '../companies/search.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Apollo's reference of mixed_people/api_search and people/bulk_match (10 at most), and public clients.
/** The maximum number of results that Apollo shows. */
const MAX_RESULTS = 50_000
const State = z.object({ page: z.int().min(1), size: z.int().min(1) })

export const apolloPeopleSearch = definePull(people, apollo, {
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    const { page, size } = state ?? { page: 1, size: Math.min(limit, MAX_MATCHES) }
    const query = { ...filtersOf(body), page, per_page: size }
    const found = await ask({ method: 'POST', path: SEARCH_PATH, query }, SearchReply, readSearch)
    if ('kind' in found) return found
    const { ids, total } = found
    const end = ids.length < size || page * size >= MAX_RESULTS
    const walk = {
      next: end ? null : { page: page + 1, size },
      ...(total === null ? {} : { total, capped: page * size >= MAX_RESULTS && total > MAX_RESULTS }),
    }
    if (ids.length === 0) return { records: [], ...walk }
    return ask(bulkMatchRequest(ids), BulkMatchReply, ({ matches }) => ({
      records: matches.flatMap((match, n) => {
        const key = match?.id ?? ids[n]
        if (match === null || key === undefined) return []
        const row = {
          full_name: match.name ?? '',
          title: match.title ?? null,
          company: match.organization?.name ?? null,
          domain: match.organization?.primary_domain ?? null,
          linkedin_url: match.linkedin_url ?? null,
          location: placeOf(match),
        }
        return [{ key, row }]
      }),
      ...walk,
    }))
  },
})

const filtersOf = ({ titles, seniority, company_domains, countries, keywords }: PeopleSearch) => ({
  'person_titles[]': titles,
  'person_seniorities[]': seniority,
  'q_organization_domains_list[]': company_domains,
  'person_locations[]': countries?.map(countryName),
  q_keywords: keywords?.join(' '),
})
