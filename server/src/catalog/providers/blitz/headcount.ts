import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { headcount } from '../../questions/headcount.ts'
import { findPage } from './company-page.ts'
import { blitz } from './provider.ts'

const Part = z.object({
  country: WireText,
  department: WireText,
  count: z.number(),
  percentage_ratio: WireNumber,
})
const Reply = z.object({ total_employees: WireNumber, distribution: z.array(Part).nullish() })
const WORDS = { country: 'country', job_role: 'department' } as const

export const blitzHeadcount = defineAdapter(headcount, blitz, {
  price: 1,
  accepts: ({ domain, linkedin_url }) => domain !== '' || linkedin_url !== '',
  async run(ask, { by, domain, linkedin_url }) {
    const company = linkedin_url === '' ? await findPage(ask, domain) : { page: linkedin_url }
    if ('kind' in company) return company
    const word = WORDS[by]
    const path = `/v2/enrichment/company-distribution-by-${word}`
    const request = { method: 'POST', path, json: { company_linkedin_url: company.page } } as const
    return ask(request, Reply, ({ total_employees: total, distribution }) => {
      const breakdown = (distribution ?? []).map((part) => ({
        name: part[word] ?? 'unknown',
        employees: part.count,
        percent: part.percentage_ratio ?? null,
      }))
      if (!total && breakdown.length === 0) return MISS
      return hit({ company_headcount: total ?? null, breakdown }, breakdown.length > 0)
    })
  },
})
