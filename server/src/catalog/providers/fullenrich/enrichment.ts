import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const PATH = '/api/v2/contact/enrich/bulk'
const POLL_MS = 10_000
const Started = z.object({ enrichment_id: z.string() })
const Info = z.object({
  most_probable_work_email: z.object({ email: WireText, status: WireText }).nullish(),
  most_probable_phone: z.object({ number: WireText }).nullish(),
})
const Waiting = z.object({ code: z.string() })
const Finished = z.object({
  status: z.string(),
  data: z.array(z.object({ contact_info: Info.nullish() })).nullish(),
})
export type ContactInfo = z.output<typeof Info>

const AT_WORK = new Set(['CREATED', 'IN_PROGRESS'])

type Wanted = { person: PersonAtCompany; field: 'contact.work_emails' | 'contact.phones'; poll: unknown }

/** Requests one part of a contact, then polls for the result. */
export function enrich<Result>(
  ask: AdapterAsk,
  { person: { first_name, last_name, domain, linkedin_url }, field, poll }: Wanted,
  read: (info: ContactInfo) => Found<Result>,
): Promise<Found<Result>> {
  if (typeof poll !== 'string') {
    const known = Object.entries({ first_name, last_name, domain, linkedin_url }).filter(
      ([, value]) => value !== '',
    )
    const json = { name: 'Loam', data: [{ ...Object.fromEntries(known), enrich_fields: [field] }] }
    return ask({ method: 'POST', path: PATH, json }, Started, ({ enrichment_id }) => ({
      kind: 'pending',
      afterMs: POLL_MS,
      poll: enrichment_id,
    }))
  }
  const request = { path: `${PATH}/${encodeURIComponent(poll)}` }
  return ask(request, z.union([Finished, Waiting]), (reply): Found<Result> => {
    if ('code' in reply || AT_WORK.has(reply.status)) return { kind: 'pending', afterMs: POLL_MS, poll }
    if (reply.status === 'CREDITS_INSUFFICIENT') return refusal('no_credits', 'the key is used up')
    if (reply.status === 'RATE_LIMIT') return refusal('rate_limited', 'its rate limit is reached')
    const info = reply.data?.[0]?.contact_info
    return info ? read(info) : MISS
  })
}
