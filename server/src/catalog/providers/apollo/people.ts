import { type AdapterAsk, defineAdapter, type Paused } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import type { Refusal } from '../../provider/reply.ts'
import { listPeople, people, type PersonEntry } from '../../questions/people.ts'
import { placeOf } from '../../questions/place.ts'
import { BulkMatchReply, bulkMatchRequest, MAX_MATCHES } from './match.ts'
import { apollo } from './provider.ts'
import { readSearch, SEARCH_PATH, SearchReply } from './search.ts'

/** Searches for a page of people, then reads their details by id. Apollo charges a credit for each. */
export const apolloPeople = defineAdapter(people, apollo, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    let total: number | null = null
    const size = Math.min(limit, MAX_MATCHES)
    const pages = await collectPages(
      async (page: number) => {
        const query = {
          'q_organization_domains_list[]': [domain],
          'person_titles[]': titles,
          'person_seniorities[]': seniority,
          page,
          per_page: size,
        }
        const found = await ask({ method: 'POST', path: SEARCH_PATH, query }, SearchReply, readSearch)
        if ('kind' in found) return found
        total = found.total
        const matched = await matchAll(ask, found.ids)
        if ('kind' in matched) return matched
        return { items: matched.items, next: found.ids.length === size ? page + 1 : null }
      },
      { first: 1, max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(pages.items, total ?? pages.items.length, pages.note)
  },
})

async function matchAll(
  ask: AdapterAsk,
  ids: readonly string[],
): Promise<{ items: PersonEntry[] } | Refusal | Paused> {
  if (ids.length === 0) return { items: [] }
  return ask(bulkMatchRequest(ids), BulkMatchReply, ({ matches }) => ({
    items: matches.flatMap((match, n): PersonEntry[] =>
      match === null
        ? []
        : [
            {
              full_name: match.name ?? '',
              title: match.title ?? null,
              company: match.organization?.name ?? null,
              location: placeOf(match),
              linkedin_url: match.linkedin_url ?? null,
              id: match.id ?? ids[n] ?? null,
            },
          ],
    ),
  }))
}
