import { z } from 'zod'
import type { AdapterAsk, Found } from '../../provider/adapter.ts'
import { refusal } from '../../provider/reply.ts'
import { WireText } from '../../provider/wire-fields.ts'
import type { PersonAtCompany } from '../../questions/work-email.ts'

const PATH = '/api/v2/async'
const POLL_MS = 5000
const Id = z.union([z.string(), z.number()])
/** The id of a task. Its name differs by version. */
const Started = z.union([
  z.object({ id: Id }),
  z.object({ request_id: Id }).transform(({ request_id: id }) => ({ id })),
])
const Contact = z.object({
  contact_email_address: WireText,
  contact_email_address_status: WireText,
  contact_phone_number: z.union([z.string(), z.number()]).nullish(),
})
const Result = z.object({ status: z.string(), data: z.array(Contact).nullish() })
export type Contact = z.output<typeof Contact>

type Wanted = { person: PersonAtCompany; part: 'email_address' | 'phone_number'; poll: unknown }

/** Requests one part of a contact, then polls for the result. */
export function enrich<Value>(
  ask: AdapterAsk,
  { person: { first_name, last_name, domain, linkedin_url }, part, poll }: Wanted,
  read: (contact: Contact) => Found<Value>,
): Promise<Found<Value>> {
  if (typeof poll !== 'string') {
    const json = {
      data: [{ first_name, last_name, company_domain: domain, linkedin_url }],
      enrich_email_address: part === 'email_address',
      enrich_phone_number: part === 'phone_number',
    }
    return ask({ method: 'POST', path: PATH, json }, Started, ({ id }) => ({
      kind: 'pending',
      afterMs: POLL_MS,
      poll: String(id),
    }))
  }
  return ask({ path: `${PATH}/${encodeURIComponent(poll)}` }, Result, ({ status, data }) => {
    if (status === 'failed') return refusal('error', 'BetterContact could not process the contact')
    return status === 'terminated' ? read(data?.[0] ?? {}) : { kind: 'pending', afterMs: POLL_MS, poll }
  })
}
