import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { headcount, type HeadcountQuestion } from '../../questions/headcount.ts'
import { matchBusiness } from './business.ts'
import { explorium } from './provider.ts'
import { COUNTRIES, DEPARTMENTS } from './stats-filters.ts'

const Counts = z.record(z.string(), z.number())
const Reply = z.object({
  total_results: z.number(),
  /**
   * The people of each department by place, with their `total`. The same for all departments together is in
   * `total_per_location`.
   */
  stats: z.object({ job_departments_per_location: z.record(z.string(), Counts).nullish() }).nullish(),
})
const ALL = 'total_per_location'

/**
 * Counts the people that Explorium knows at a company. Only filtered fields are broken down, so all values of both are
 * sent.
 */
export const exploriumHeadcount = defineAdapter(headcount, explorium, {
  price: 1,
  async run(ask, { by, ...question }) {
    const match = await matchBusiness(ask, question)
    if ('kind' in match) return match
    const filters = {
      business_id: { values: [match.business_id] },
      job_department: { values: DEPARTMENTS },
      country_code: { values: COUNTRIES },
    }
    const request = { method: 'POST', path: '/v1/prospects/stats', json: { filters } } as const
    return ask(request, Reply, ({ total_results, stats }) => {
      if (total_results === 0) return MISS
      const breakdown = listParts(stats?.job_departments_per_location ?? {}, by).map(([name, employees]) => ({
        name,
        employees,
        percent: Math.round((employees / total_results) * 10_000) / 100,
      }))
      return hit({ company_headcount: total_results, breakdown }, breakdown.length > 0)
    })
  },
})

function listParts(
  counts: Readonly<Record<string, Record<string, number>>>,
  by: HeadcountQuestion['by'],
): [name: string, employees: number][] {
  if (by === 'country') return Object.entries(counts[ALL] ?? {}).filter(([name]) => name !== 'total')
  return Object.entries(counts).flatMap(([name, { total }]): [string, number][] =>
    name === ALL || total === undefined || total === 0 ? [] : [[name, total]],
  )
}
