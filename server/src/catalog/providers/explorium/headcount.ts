import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { headcount } from '../../questions/headcount.ts'
import { matchBusiness } from './business.ts'
import { explorium } from './provider.ts'

const Counts = z.record(z.string(), z.number())
const Reply = z.object({
  total_results: z.number(),
  stats: z.record(z.string(), z.unknown()).nullish(),
})
const DIMENSION = { country: /country/, job_role: /department|role/ }

/** Counts the people that it knows at a company. */
export const exploriumHeadcount = defineAdapter(headcount, explorium, {
  price: 1,
  async run(ask, { by, ...question }) {
    const match = await matchBusiness(ask, question)
    if ('kind' in match) return match
    const json = { filters: { business_id: { values: [match.business_id] } } }
    return ask({ method: 'POST', path: '/v1/prospects/stats', json }, Reply, ({ total_results, stats }) => {
      if (total_results === 0) return MISS
      const name = Object.keys(stats ?? {}).find((key) => DIMENSION[by].test(key)) ?? ''
      const counts = Counts.safeParse(stats?.[name]).data ?? {}
      const breakdown = Object.entries(counts).map(([part, employees]) => ({
        name: part,
        employees,
        percent: Math.round((employees / total_results) * 10_000) / 100,
      }))
      return hit({ company_headcount: total_results, breakdown }, breakdown.length > 0)
    })
  },
})
