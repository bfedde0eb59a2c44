import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { openings } from '../../questions/openings.ts'
import { theirstack } from './provider.ts'

const Reply = z.object({
  data: z.array(
    z.object({
      job_title: z.string(),
      location: WireText,
      url: WireText,
      final_url: WireText,
      date_posted: WireText,
    }),
  ),
  metadata: z.object({ total_results: WireNumber }).nullish(),
})

export const theirstackOpenings = defineAdapter(openings, theirstack, {
  price: 1,
  run: (ask, { domain, keywords, limit }) => {
    const json = {
      company_domain_or: [domain],
      ...(keywords.length === 0 ? {} : { job_title_or: keywords }),
      posted_at_max_age_days: 90,
      include_total_results: true,
      page: 0,
      limit,
    }
    return ask({ method: 'POST', path: '/v1/jobs/search', json }, Reply, ({ data, metadata }) => {
      if (data.length === 0) return MISS
      const jobs = data.map(({ job_title, location, url, final_url, date_posted }) => ({
        title: job_title,
        location: location ?? null,
        url: final_url ?? url ?? null,
        posted_at: date_posted ?? null,
        department: null,
      }))
      return hit({ count: metadata?.total_results ?? jobs.length, jobs })
    })
  },
})
