import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listPeople, people } from '../../questions/people.ts'
import { crustdata } from './provider.ts'

const Reply = z.object({
  profiles: z.array(
    z.object({
      person_id: z.union([z.number(), z.string()]).nullish(),
      name: WireText,
      headline: WireText,
      region: WireText,
      linkedin_profile_url: WireText,
      flagship_profile_url: WireText,
      current_employers: z
        .array(z.object({ title: WireText, name: WireText, company_name: WireText }))
        .nullish(),
    }),
  ),
  next_cursor: WireText,
  total_count: WireNumber,
})
const PAGE = 100
const LEVELS: Record<string, string> = {
  owner: 'Owner / Partner',
  founder: 'Owner / Partner',
  partner: 'Owner / Partner',
  c_suite: 'CXO',
  vp: 'Vice President',
  director: 'Director',
  manager: 'Experienced Manager',
  senior: 'Senior',
  entry: 'Entry Level',
}

export const crustdataPeople = defineAdapter(people, crustdata, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    const titled = titles.map((value) => ({ column: 'current_employers.title', type: '(.)', value }))
    const levels = [...new Set(seniority.map((word) => LEVELS[word] ?? word))]
    const conditions = [
      { column: 'current_employers.company_website_domain', type: '=', value: domain },
      ...(titled.length === 0 ? [] : [{ op: 'or', conditions: titled }]),
      ...(levels.length === 0
        ? []
        : [{ column: 'current_employers.seniority_level', type: 'in', value: levels }]),
    ]
    let total = 0
    const pages = await collectPages(
      (cursor: string) => {
        const json = {
          filters: { op: 'and', conditions },
          limit: Math.min(limit, PAGE),
          ...(cursor === '' ? {} : { cursor }),
        }
        const request = { method: 'POST', path: '/screener/persondb/search', json } as const
        return ask(request, Reply, ({ profiles, next_cursor, total_count }) => {
          total = total_count ?? 0
          return { items: profiles, next: next_cursor || null }
        })
      },
      { first: '', max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map((one) => {
        const [now] = one.current_employers ?? []
        return {
          full_name: one.name ?? '',
          title: now?.title ?? one.headline ?? null,
          company: now?.name ?? now?.company_name ?? null,
          location: one.region ?? null,
          linkedin_url: one.flagship_profile_url ?? one.linkedin_profile_url ?? null,
          id: one.person_id ? String(one.person_id) : null,
        }
      }),
      total,
      pages.note,
    )
  },
})
