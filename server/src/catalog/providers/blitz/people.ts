import { z } from 'zod'
import { ownValue } from '../../../lib/json/object.ts'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listPeople, people } from '../../questions/people.ts'
import { placeOf } from '../../questions/place.ts'
import { findPage } from './company-page.ts'
import { blitz } from './provider.ts'

const Experience = z.object({
  job_title: WireText,
  company_name: WireText,
  job_is_current: z.boolean().nullish(),
})
const Reply = z.object({
  results: z.array(
    z.object({
      full_name: WireText,
      headline: WireText,
      linkedin_url: WireText,
      location: z.object({ city: WireText, state_code: WireText, country_code: WireText }).nullish(),
      experiences: z.array(Experience).nullish(),
    }),
  ),
  total_results: WireNumber,
  cursor: WireText,
})
const PAGE = 50
const LEVELS: Record<string, string> = {
  owner: 'C-Team',
  founder: 'C-Team',
  c_suite: 'C-Team',
  partner: 'C-Team',
  vp: 'VP',
  head: 'Director',
  director: 'Director',
  manager: 'Manager',
  senior: 'Staff',
  entry: 'Staff',
}

export const blitzPeople = defineAdapter(people, blitz, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    const company = await findPage(ask, domain)
    if ('kind' in company) return company
    const job_level = [...new Set(seniority.map((word) => ownValue(LEVELS, word) ?? word))]
    const wanted = {
      ...(titles.length === 0 ? {} : { job_title: { include: titles } }),
      ...(job_level.length === 0 ? {} : { job_level }),
    }
    let total = 0
    const pages = await collectPages(
      (cursor: string) => {
        const json = {
          company: { linkedin_url: [company.page] },
          people: wanted,
          max_results: Math.min(limit, PAGE),
          cursor: cursor || null,
        }
        const request = { method: 'POST', path: '/v2/search/people', json } as const
        return ask(request, Reply, ({ results, total_results, cursor: next }) => {
          total = total_results ?? 0
          return { items: results, next: next || null }
        })
      },
      { first: '', max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map(({ full_name, headline, linkedin_url, location, experiences }) => {
        const now = experiences?.find(({ job_is_current }) => job_is_current) ?? experiences?.[0]
        return {
          full_name: full_name ?? '',
          title: now?.job_title ?? headline ?? null,
          company: now?.company_name ?? null,
          location: placeOf({
            city: location?.city,
            state: location?.state_code,
            country: location?.country_code,
          }),
          linkedin_url: linkedin_url ?? null,
          id: null,
        }
      }),
      total,
      pages.note,
    )
  },
})
