import { z } from 'zod'
import { apollo } from '../../catalog/providers/apollo/provider.ts'
import { placeOf } from '../../catalog/questions/place.ts'
import { countryName } from '../companies/search.ts'
import { definePull } from '../pull.ts'
import { people, type PeopleSearch } from './search.ts'

// Evidence: Apollo's reference of mixed_people/api_search and people/bulk_match (10 at most), and public clients.
const Text = z.string().nullish()
const Found = z.object({
  people: z.array(z.object({ id: z.string() })),
  total_entries: z.number().nullish(),
  pagination: z.object({ total_entries: z.number().nullish() }).nullish(),
})
const Match = z.object({
  id: Text,
  name: Text,
  title: Text,
  linkedin_url: Text,
  city: Text,
  state: Text,
  country: Text,
  organization: z.object({ name: Text, primary_domain: Text }).nullish(),
})
const Matched = z.object({ matches: z.array(Match.nullable()) })

/** As many as can be matched in one call: the search itself masks last names and tells no addresses. */
const MAX_PAGE = 10
/** Apollo shows no more than these. */
const MAX_RESULTS = 50_000
const State = z.object({ page: z.int().min(1), size: z.int().min(1) })

export const apolloPeopleSearch = definePull(people, apollo, {
  price: 1,
  state: State,
  async pull({ body, state, limit, ask }) {
    const { page, size } = state ?? { page: 1, size: Math.min(limit, MAX_PAGE) }
    const query = { ...filtersOf(body), page, per_page: size }
    const found = await ask(
      { method: 'POST', path: '/api/v1/mixed_people/api_search', query },
      Found,
      ({ people: list, total_entries, pagination }) => ({
        ids: list.map(({ id }) => id),
        total: total_entries ?? pagination?.total_entries ?? null,
      }),
    )
    if ('kind' in found) return found
    const { ids, total } = found
    const end = ids.length < size || page * size >= MAX_RESULTS
    const walk = {
      next: end ? null : { page: page + 1, size },
      ...(total === null ? {} : { total, capped: page * size >= MAX_RESULTS && total > MAX_RESULTS }),
    }
    if (ids.length === 0) return { records: [], ...walk }
    const request = {
      method: 'POST',
      path: '/api/v1/people/bulk_match',
      json: { details: ids.map((id) => ({ id })) },
    } as const
    return ask(request, Matched, ({ matches }) => ({
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
