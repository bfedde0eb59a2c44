import { z } from 'zod'
import { ownValue } from '../../../lib/json/object.ts'
import { defineAdapter } from '../../provider/adapter.ts'
import { collectPages } from '../../provider/pages.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listPeople, people } from '../../questions/people.ts'
import { CURRENT_JOB, LEVELS, presentOf, Profile } from './profile.ts'
import { crustdata } from './provider.ts'

const Reply = z.object({ profiles: z.array(Profile), next_cursor: WireText, total_count: WireNumber })
const PAGE = 100

export const crustdataPeople = defineAdapter(people, crustdata, {
  price: 2,
  async run(ask, { domain, titles, seniority, limit }) {
    const titled = titles.map((value) => ({ field: `${CURRENT_JOB}.title`, type: '(.)', value }))
    const levels = [...new Set(seniority.map((word) => ownValue(LEVELS, word) ?? word))]
    const conditions = [
      { field: `${CURRENT_JOB}.company_website_domain`, type: '=', value: domain },
      ...(titled.length === 0 ? [] : [{ op: 'or', conditions: titled }]),
      ...(levels.length === 0
        ? []
        : [{ field: `${CURRENT_JOB}.seniority_level`, type: 'in', value: levels }]),
    ]
    let total = 0
    const pages = await collectPages(
      (cursor: string) => {
        const json = {
          filters: { op: 'and', conditions },
          limit: Math.min(limit, PAGE),
          ...(cursor === '' ? {} : { cursor }),
        }
        const request = { method: 'POST', path: '/person/search', json } as const
        return ask(request, Reply, ({ profiles, next_cursor, total_count }) => {
          total = total_count ?? 0
          return { items: profiles, next: next_cursor || null }
        })
      },
      { first: '', max: limit },
    )
    if (pages.kind !== 'pages') return pages
    return listPeople(
      pages.items.map((profile) => {
        const { domain: _, ...present } = presentOf(profile)
        return { ...present, id: profile.crustdata_person_id ? String(profile.crustdata_person_id) : null }
      }),
      total,
      pages.note,
    )
  },
})
