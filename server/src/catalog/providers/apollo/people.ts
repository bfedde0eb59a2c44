import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listPeople, people } from '../../questions/people.ts'
import { placeOf } from '../../questions/place.ts'
import { apollo } from './provider.ts'

const Reply = z.object({
  people: z.array(
    z.object({
      id: WireText,
      name: WireText,
      first_name: WireText,
      last_name: WireText,
      title: WireText,
      linkedin_url: WireText,
      city: WireText,
      state: WireText,
      country: WireText,
      organization: z.object({ name: WireText }).nullish(),
    }),
  ),
  total_entries: WireNumber,
  pagination: z.object({ total_entries: WireNumber }).nullish(),
})
const PAGE = 100

export const apolloPeople = defineAdapter(people, apollo, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    let total = 0
    const size = Math.min(limit, PAGE)
    const pages = await collectPages(
      (page: number) => {
        const query = {
          'q_organization_domains_list[]': [domain],
          'person_titles[]': titles,
          'person_seniorities[]': seniority,
          page,
          per_page: size,
        }
        const request = { method: 'POST', path: '/api/v1/mixed_people/api_search', query } as const
        return ask(request, Reply, ({ people: found, total_entries, pagination }) => {
          total = total_entries ?? pagination?.total_entries ?? found.length
          return { items: found, next: found.length === size ? page + 1 : null }
        })
      },
      { first: 1, max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map((one) => ({
        full_name: one.name ?? [one.first_name, one.last_name].filter((part) => part).join(' '),
        title: one.title ?? null,
        company: one.organization?.name ?? null,
        location: placeOf(one),
        linkedin_url: one.linkedin_url ?? null,
        id: one.id ?? null,
      })),
      total,
      pages.note,
    )
  },
})
