import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { listPeople, people } from '../../questions/people.ts'
import { prospeo } from './provider.ts'
import { filtersOf, presentOf, SEARCH_PATH, SearchReply } from './search.ts'

export const prospeoPeople = defineAdapter(people, prospeo, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    const filters = filtersOf({ titles, seniority, domains: [domain] })
    let total = 0
    const pages = await collectPages(
      (page: number) =>
        ask(
          { method: 'POST', path: SEARCH_PATH, json: { page, filters } },
          SearchReply,
          ({ results, pagination }) => {
            total = pagination?.total_count ?? 0
            return { items: results, next: page < (pagination?.total_page ?? 0) ? page + 1 : null }
          },
        ),
      { first: 1, max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map((one) => ({
        ...presentOf(one),
        id: one.person.person_id ? String(one.person.person_id) : null,
      })),
      total,
      pages.note,
    )
  },
})
