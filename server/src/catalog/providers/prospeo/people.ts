import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { listPeople, people } from '../../questions/people.ts'
import { placeOf } from '../../questions/place.ts'
import { prospeo } from './provider.ts'

const Text = z.string().nullish()
const Reply = z.object({
  results: z.array(
    z.object({
      person: z.object({
        person_id: Text,
        full_name: Text,
        current_job_title: Text,
        linkedin_url: Text,
        location: z.object({ city: Text, state: Text, country: Text }).nullish(),
      }),
      company: z.object({ name: Text }).nullish(),
    }),
  ),
  pagination: z.object({ total_page: z.number().nullish(), total_count: z.number().nullish() }).nullish(),
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
