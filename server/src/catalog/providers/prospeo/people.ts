import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listPeople, people } from '../../questions/people.ts'
import { placeOf } from '../../questions/place.ts'
import { prospeo } from './provider.ts'

const Reply = z.object({
  results: z.array(
    z.object({
      person: z.object({
        person_id: WireText,
        full_name: WireText,
        current_job_title: WireText,
        linkedin_url: WireText,
        location: z.object({ city: WireText, state: WireText, country: WireText }).nullish(),
      }),
      company: z.object({ name: WireText }).nullish(),
    }),
  ),
  pagination: z.object({ total_page: WireNumber, total_count: WireNumber }).nullish(),
})
const LEVELS: Record<string, string> = {
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

export const prospeoPeople = defineAdapter(people, prospeo, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    const levels = [...new Set(seniority.map((word) => LEVELS[word] ?? word))]
    const filters = {
      company: { websites: { include: [domain] } },
      ...(titles.length === 0 ? {} : { person_job_title: { include: titles } }),
      ...(levels.length === 0 ? {} : { person_seniority: { include: levels } }),
    }
    let total = 0
    const pages = await collectPages(
      (page: number) =>
        ask(
          { method: 'POST', path: '/search-person', json: { page, filters } },
          Reply,
          ({ results, pagination }) => {
            total = pagination?.total_count ?? 0
            return { items: results, next: page < (pagination?.total_page ?? 0) ? page + 1 : null }
          },
        ),
      { first: 1, max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map(({ person, company }) => ({
        full_name: person.full_name ?? '',
        title: person.current_job_title ?? null,
        company: company?.name ?? null,
        location: placeOf(person.location ?? {}),
        linkedin_url: person.linkedin_url ?? null,
        id: person.person_id ?? null,
      })),
      total,
      pages.note,
    )
  },
})
