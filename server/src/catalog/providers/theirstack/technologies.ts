import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listTechnologies, technologies } from '../../questions/technologies.ts'
import { theirstack } from './provider.ts'

const Reply = z.object({
  data: z.array(
    z.object({
      technology: z.object({ name: z.string(), category: WireText }),
      confidence: WireText,
      jobs: WireNumber,
      first_date_found: WireText,
      last_date_found: WireText,
    }),
  ),
})

export const theirstackTechnologies = defineAdapter(technologies, theirstack, {
  price: 1,
  run: (ask, { domain }) => {
    const json = { company_domain: domain }
    return ask({ method: 'POST', path: '/v1/companies/technologies', json }, Reply, ({ data }) =>
      listTechnologies(
        data.map(({ technology, confidence, jobs, first_date_found, last_date_found }) => ({
          name: technology.name,
          category: technology.category ?? null,
          evidence: `${jobs ?? 0} job postings, confidence ${confidence ?? 'unknown'}`,
          first_seen: first_date_found ?? null,
          last_seen: last_date_found ?? null,
        })),
      ),
    )
  },
})
