import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const Started = z.object({ enrichmentID: z.string() })

type Enrichment<Reply> = {
  path: '/v2/people/enrich' | '/v2/companies/enrich'
  json: object
  reply: z.ZodType<Reply>
  poll: unknown
}

/** Requests an enrichment, then polls for the result. */
export function enrich<Reply extends { status: string }, Result>(
  ask: AdapterAsk,
  { path, json, reply, poll }: Enrichment<Reply>,
  read: (reply: Reply) => Found<Result>,
): Promise<Found<Result>> {
  if (typeof poll !== 'string') {
    return ask({ method: 'POST', path, json }, Started, ({ enrichmentID }) => ({
      kind: 'pending',
      afterMs: 2000,
      poll: enrichmentID,
    }))
  }
  return ask({ path: `${path}/${encodeURIComponent(poll)}` }, reply, (found) => {
    if (found.status === 'FAILED') return MISS
    return found.status === 'COMPLETED' ? read(found) : { kind: 'pending', afterMs: 3000, poll }
  })
}

/** Identifies a person by profile, or else by name and company. */
export function toPersonFields({ first_name, last_name, domain, linkedin_url }: PersonAtCompany) {
  return linkedin_url === ''
    ? { firstName: first_name, lastName: last_name, companyDomain: domain }
    : { linkedinUrl: linkedin_url }
}
