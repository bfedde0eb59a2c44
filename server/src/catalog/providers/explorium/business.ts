import { z } from 'zod'
import { type AdapterAsk, MISS, type Paused } from '../../provider/adapter.ts'
import type { Refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { CompanyQuestion } from '../../questions/company.ts'

const Reply = z.object({
  matched_businesses: z.array(z.object({ business_id: WireText })).nullish(),
})

/** Finds the id of a company, which all other requests need. */
export async function matchBusiness(
  ask: AdapterAsk,
  { domain, name, linkedin_url }: CompanyQuestion,
): Promise<{ business_id: string } | Refusal | Paused> {
  const known = {
    ...(domain === '' ? {} : { domain }),
    ...(name === '' ? {} : { name }),
    ...(linkedin_url === '' ? {} : { linkedin_url }),
  }
  const json = { businesses_to_match: [known] }
  return ask({ method: 'POST', path: '/v1/businesses/match', json }, Reply, ({ matched_businesses }) => {
    const business_id = matched_businesses?.[0]?.business_id
    return business_id ? { business_id } : MISS
  })
}
